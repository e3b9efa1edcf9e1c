import { testAdapter } from './contract.ts';
import { deepagents } from './deepagents.ts';

testAdapter(deepagents);
