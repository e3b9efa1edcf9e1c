/** Each program of `langchain-js` as an agent: its input is the one question, and its output the conversation. */
import type { BaseMessage } from '@langchain/core/messages';
import { type Agent, agent } from '../../src/index.ts';
import '../../adapters/langchain/index.ts';

interface Graph {
  invoke(input: object, config?: object): Promise<State>;
}
interface State {
  messages: BaseMessage[];
  [field: string]: unknown;
}

const at = (path: string) => new URL(`./langchain-js/${path}.ts`, import.meta.url).href;
let runs = 0;

/** What is left of a state when ids are left out. */
function told({ messages, ...rest }: State): string {
  const said = messages.map(({ type, name, text }) => `${type} ${name ?? ''}: ${text}`);
  return JSON.stringify({ messages: said, ...rest }, undefined, 1);
}

/** An example that runs when it is loaded, as `node` would. */
function program(name: string, path: string): Agent<string[], string> {
  return agent(name, async () => {
    const { result } = (await import(`${at(path)}?run=${++runs}`)) as { result: State };
    return told(result);
  });
}

/** A template, which exports its graph. */
function template(name: string, path: string, configurable: object): Agent<string[], string> {
  return agent(name, async ([content]) => {
    const { graph } = (await import(at(path))) as { graph: Graph };
    const { messages } = await graph.invoke({ messages: [{ role: 'user', content }] }, { configurable });
    return told({ messages });
  });
}

const model = 'openai/gpt-4.1-mini';
export const reactAgent = template('react-agent', 'templates/react-agent/graph', { model });
export const researchAgent = template('research-agent', 'templates/research-agent/retrieval-graph/graph', {
  queryModel: model,
  responseModel: model,
});
export const supervisor = program('supervisor', 'supervisor/quickstart');
export const piiRedaction = program('pii-redaction', 'langchain/pii-redaction');
export const todoList = program('todo-list', 'langchain/todo-list');
export const humanInTheLoop = program('human-in-the-loop', 'langchain/human-in-the-loop');
export const deepAgent = program('deep-agent', 'deepagents/quickstart');
