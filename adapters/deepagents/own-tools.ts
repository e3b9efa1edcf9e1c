/** Deep Agents' own tools are no steps: what they do to the graph's state must happen again when that is made again. */
import type { StructuredTool } from '@langchain/core/tools';
import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { createFilesystemMiddleware, createSubAgentMiddleware, StateBackend } from 'deepagents';
import { todoListMiddleware } from 'langchain';
import type { LoopTool } from '../langchain/tools.ts';
import { unknownBackend, withBackend } from './backends.ts';

type Schema = Parameters<typeof toJsonSchema>[0];
interface Declared {
  name: string;
  schema: Schema;
}

/** Which sub-agents there are is said in the schema of `task`. */
const SUB_AGENTS = /(Name of the agent to use\. Available: )[^"]*/;

/** What `execute` answers where the backend has no shell. */
const NO_SHELL = 'Error: Execution not available.';

/** By name: what each takes, down to what is said of it, which no other tool of that name takes. */
const files = schemasOf(createFilesystemMiddleware({ backend: new StateBackend() }));
const others = schemasOf(
  createSubAgentMiddleware({ defaultModel: '', subagents: [], generalPurposeAgent: false }),
  todoListMiddleware(),
);
const found = new WeakMap<object, LoopTool | false>();

/** How a call of a tool runs if that is one of Deep Agents' own. */
export function ownTool(tool: StructuredTool): LoopTool | undefined {
  const known = found.get(tool) ?? find(tool) ?? false;
  found.set(tool, known);
  return known || undefined;
}

function find({ name, schema }: StructuredTool): LoopTool | undefined {
  if (!files.has(name) && !others.has(name)) return undefined;
  const own = comparable(schema as Schema);
  if (others.get(name) === own) return async (call) => await call();
  return files.get(name) === own ? callWithFiles : undefined;
}

/** A backend that is not known here would read and write again in each loop. */
async function callWithFiles(call: () => Promise<unknown>): Promise<unknown> {
  const { result, known } = await withBackend(call);
  if (!known && !isRefused(result)) throw unknownBackend();
  return result;
}

/** Whether the tool answered by itself: no path that it may have, or no shell. The model may run commands nevertheless. */
function isRefused(result: unknown): boolean {
  if (typeof result === 'string') return result.startsWith(NO_SHELL);
  return (result as { status?: string } | undefined)?.status === 'error';
}

function schemasOf(...middleware: { tools?: readonly unknown[] }[]): Map<string, string> {
  const tools = middleware.flatMap(({ tools: own = [] }) => own as readonly Declared[]);
  return new Map(tools.map(({ name, schema }) => [name, comparable(schema)]));
}

function comparable(schema: Schema): string {
  return JSON.stringify(toJsonSchema(schema)).replace(SUB_AGENTS, '$1');
}
