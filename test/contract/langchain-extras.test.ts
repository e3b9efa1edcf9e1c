import { testExtras } from './contract-extras.ts';
import { langchain } from './langchain.ts';

testExtras(langchain);
