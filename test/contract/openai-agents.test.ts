import { testAdapter } from './contract.ts';
import { openaiAgents } from './openai-agents.ts';

testAdapter(openaiAgents);
