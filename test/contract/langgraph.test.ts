import { testAdapter } from './contract.ts';
import { langgraph } from './langgraph.ts';

testAdapter(langgraph);
