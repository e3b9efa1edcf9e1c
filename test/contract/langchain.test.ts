import { testAdapter } from './contract.ts';
import { langchain } from './langchain.ts';

testAdapter(langchain);
