/** A call of LangChain's tool is a step. A tool of ours is one that LangChain can call. */
import { type DynamicStructuredTool, type StructuredTool, tool as coreTool } from '@langchain/core/tools';
import { ToolMessage } from '@langchain/core/messages';
import { interrupt } from '@langchain/langgraph';
import { ToolRejectedError } from '../../src/errors/index.ts';
import { askStep, insideRun, scopeKey } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { callForModel, noteAndResult } from '../../src/tools/call-for-model.ts';
import type { Tool } from '../../src/tools/tool-options.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { graphConfig } from './place.ts';
import { runBody } from './tool-body.ts';
import { recordedResult, revivedResult } from './tool-results.ts';

interface CallConfig {
  toolCall?: { id?: string; name: string; args: unknown };
  signal?: AbortSignal;
}
type Call = (config: CallConfig) => unknown;

/** What is recorded of a call that did not just end. */
type Recorded =
  | { $langchain: 'interrupts'; value: unknown }
  /** It runs a graph, so it is made of steps. */
  | { $langchain: 'runs a graph' };

const converted = new WeakMap<object, DynamicStructuredTool>();
const ours = new WeakSet<object>();

/**
 * One of our tools as a tool of LangChain. Inside a run its call is an activity by its own name, with its retries and its
 * approval; outside it just runs. The model is told of failures in LangChain's words.
 */
export function toAgentTool(tool: Tool<any, any, any>): DynamicStructuredTool {
  const agentTool = converted.get(tool) ?? convert(tool);
  converted.set(tool, agentTool);
  ours.add(agentTool);
  return agentTool;
}

/** Whether it is a tool of this package. */
export function isOurs(tool: unknown): tool is Tool<any, any, any> {
  return typeof tool === 'function' && 'origin' in tool && 'jsonSchema' in tool;
}

function convert(tool: Tool<any, any, any>): DynamicStructuredTool {
  const { name, description } = tool.options;
  const execute = async (input: unknown, { toolCall }: CallConfig): Promise<unknown> => {
    try {
      return await callForModel(tool, input, noteAndResult);
    } catch (error) {
      if (!(error instanceof ToolRejectedError)) throw error;
      return toolCall?.id === undefined
        ? error.message
        : new ToolMessage({ status: 'error', content: error.message, tool_call_id: toolCall.id, name });
    }
  };
  const schema = plainJson(tool.jsonSchema) as Record<string, unknown>;
  return coreTool(execute, { name, description, schema });
}

/** Instruments the class of a tool. */
export function instrumentTool(tool: StructuredTool): void {
  patchMethod(tool, '_call', (call) => {
    return function (this: StructuredTool, args: unknown, manager: unknown, config: CallConfig = {}) {
      const body: Call = (own) => call.call(this, args, manager, own);
      if (!insideRun() || ours.has(this)) return body(config);
      return callTool(this.name, config.toolCall?.args ?? args, config, body);
    };
  });
}

async function callTool(name: string, args: unknown, config: CallConfig, call: Call): Promise<unknown> {
  const input = plainJson(args);
  const position = { ...currentPosition()!, scope: scopeKey('tool', name, { arguments: input }) };
  // What people answered to it makes it another call: it goes on from there.
  const answers = graphConfig()?.configurable?.__pregel_scratchpad?.resume ?? [];
  const asked = Promise.withResolvers<void>();
  let live: Promise<unknown> | undefined;
  const answer = await askStep<unknown>({
    kind: 'tool',
    name,
    request: { arguments: input, ...(answers.length > 0 && { answers }) },
    input,
    closure: keepContext(async (signal) => {
      const runsGraph = Promise.withResolvers<{ value: Recorded }>();
      const beforeGraph = async () => {
        runsGraph.resolve({ value: { $langchain: 'runs a graph' } });
        await asked.promise;
      };
      const own = { ...config, signal: config.signal ? AbortSignal.any([signal, config.signal]) : signal };
      live = runBody({ position, beforeGraph }, async () => await call(own));
      return await Promise.race([live.then(outcome, bubbled), runsGraph.promise]);
    }),
  });
  asked.resolve();
  const { $langchain: kind, value } = (answer ?? {}) as { $langchain?: string; value?: unknown };
  if (kind === 'runs a graph')
    return await (live ?? runBody({ position, beforeGraph: async () => {} }, async () => await call(config)));
  if (kind === 'interrupts') return await (live ?? interruptAgain(value));
  return await revivedResult(answer);
}

async function outcome(result: unknown): Promise<{ value?: unknown }> {
  const value = await recordedResult(result);
  return value === undefined ? {} : { value };
}

/** A graph interrupts itself by throwing, which is no failure. */
function bubbled(error: unknown): { value: Recorded } {
  const { is_bubble_up: isBubbleUp, interrupts } = (error ?? {}) as {
    is_bubble_up?: boolean;
    interrupts?: { value?: unknown }[];
  };
  if (isBubbleUp && interrupts?.length)
    return { value: { $langchain: 'interrupts', value: plainJson(interrupts[0]!.value ?? null) } };
  throw error;
}

/** Throws as the tool did: the answers that there are come first. */
function interruptAgain(value: unknown): never {
  for (;;) interrupt(value);
}
