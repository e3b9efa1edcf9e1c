import { testExtras } from './contract-extras.ts';
import { langgraph } from './langgraph.ts';

testExtras(langgraph);
