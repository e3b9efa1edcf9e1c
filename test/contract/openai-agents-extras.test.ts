import { testExtras } from './contract-extras.ts';
import { openaiAgents } from './openai-agents.ts';

testExtras(openaiAgents);
