import { testExtras } from './contract-extras.ts';
import { deepagents } from './deepagents.ts';

testExtras(deepagents);
