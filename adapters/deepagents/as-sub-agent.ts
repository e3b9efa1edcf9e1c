import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { RunnableLambda } from '@langchain/core/runnables';
import type { CompiledSubAgent } from 'deepagents';
import type { Agent } from '../../src/agent.ts';

/** How an agent is offered to the model. */
export interface AgentAsSubAgent {
  /** @default the agent's own */
  name?: string;
  /** When to give it a task, for the model. */
  description: string;
}

/**
 * An agent of this package as a sub-agent: inside a run, each task is a child workflow of its own, with its own history,
 * budget and queue. It is given the task as text, and the model its output, as JSON if that is no text.
 */
export function asSubAgent(
  agent: Agent<string>,
  { name = agent.agentName, description }: AgentAsSubAgent,
): CompiledSubAgent {
  const runnable = RunnableLambda.from(async ({ messages }: { messages: BaseMessage[] }) => {
    const output: unknown = await agent(messages.at(-1)!.text);
    return {
      messages: [new AIMessage(typeof output === 'string' ? output : JSON.stringify(output ?? null))],
    };
  });
  return { name, description, runnable };
}
