/** A call of LangChain's tool is a step. A tool of ours is one that LangChain can call. */
import {
  type DynamicStructuredTool,
  type StructuredTool,
  type StructuredToolInterface,
  tool as coreTool,
} from '@langchain/core/tools';
import { ToolMessage } from '@langchain/core/messages';
import { interrupt } from '@langchain/langgraph';
import { ToolRejectedError } from '../../src/errors/index.ts';
import { askStep, insideRun, scopeKey } from '../../src/loop/ask.ts';
import { currentPosition, type LoopPosition, runInScope } from '../../src/loop/current-loop.ts';
import { callForModel, noteAndResult } from '../../src/tools/call-for-model.ts';
import type { Tool } from '../../src/tools/tool-options.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { graphConfig } from './graph-config.ts';
import {
  answeredBefore,
  type AnswerBefore,
  askFromBody,
  asksSteps,
  callInBody,
  inToolBody,
  runToolBody,
  runToolBodyAgain,
} from './step-body.ts';
import { atItsEnd } from './tool-end.ts';
import { isOwnRecord, recordedResult, revivedResult } from './tool-results.ts';

interface CallConfig {
  toolCall?: { id?: string; name: string; args: unknown };
  signal?: AbortSignal;
  state?: unknown;
}
type Call = (config: CallConfig) => unknown;
/** A tool of LangChain as it is called. */
interface CalledTool {
  name: string;
  /** An MCP server says that it only reads. */
  readOnly: boolean;
  input: unknown;
  config: CallConfig;
  call: Call;
}

/** What is recorded of a call that did not just end. */
type Recorded =
  | { $langchain: 'interrupt'; value: unknown; schema?: unknown }
  /** It runs a graph, so it is made of steps; and what it asked before. */
  | { $langchain: 'graph'; before: AnswerBefore[] };

const converted = new WeakMap<object, DynamicStructuredTool>();
const ours = new WeakSet<object>();
const ofLoop = new Set<(tool: StructuredTool) => LoopTool | undefined>();

/** Runs a call of a tool that is no step: what it asks within are steps of its own. */
export type LoopTool = (call: () => Promise<unknown>) => Promise<unknown>;

/** Has a framework's own tools run in the loop, as a node does; `undefined`: it is none of those. */
export function addLoopTools(find: (tool: StructuredTool) => LoopTool | undefined): void {
  ofLoop.add(find);
}

/**
 * One of our tools as a tool of LangChain. Inside a run its call is an activity by its own name, with its retries and its
 * approval; outside it just runs. The model is told of failures in LangChain's words.
 */
export function toAgentTool(tool: Tool<any, any, any>): DynamicStructuredTool {
  return converted.get(tool) ?? convert(tool);
}

/** Tools of this package and of LangChain, all as LangChain's. */
export function asAgentTools(
  tools: readonly (Tool<any, any, any> | StructuredToolInterface)[],
): StructuredToolInterface[] {
  return tools.map((tool) => (isOurs(tool) ? toAgentTool(tool) : tool));
}

/** Whether it is a tool of this package. */
function isOurs(tool: unknown): tool is Tool<any, any, any> {
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
  const agentTool = coreTool(execute, { name, description, schema });
  converted.set(tool, agentTool);
  ours.add(agentTool);
  return agentTool;
}

/** Instruments LangChain's base of all tools. */
export function instrumentTools(base: object): boolean {
  return patchMethod(base, 'call', (original) => {
    return function (this: StructuredTool, ...args) {
      if (insideRun() || inToolBody()) instrumentTool(this);
      return original.apply(this, args);
    };
  });
}

/** Instruments the class of a tool. */
function instrumentTool(tool: StructuredTool): void {
  patchMethod(tool, '_call', (call) => {
    return function (this: StructuredTool, args: unknown, manager: unknown, config: CallConfig = {}) {
      const body: Call = (own) => call.call(this, args, manager, own);
      if (ours.has(this) || !(insideRun() || inToolBody())) return body(config);
      const { name, metadata } = this;
      const inputOf = () => plainJson(config.toolCall?.args ?? args);
      if (!asksSteps())
        return callInBody(
          () => ({ kind: 'tool', name, request: { arguments: inputOf() } }),
          async () => await body(config),
          async (result) => (isAsyncIterable(result) ? undefined : recordedResult(result, stateOf(config))),
        );
      const { annotations } = (metadata ?? {}) as { annotations?: { readOnlyHint?: boolean } };
      const readOnly = annotations?.readOnlyHint === true;
      const input = inputOf();
      const inLoop = loopToolOf(this);
      if (!inLoop) return callFromBody({ name, readOnly, input, config, call: body });
      if (!insideRun()) return body(config);
      const scope = scopeKey('body', name, { arguments: input });
      return runInScope(scope, () => inLoop(async () => await body(config)));
    };
  });
}

function loopToolOf(tool: StructuredTool): LoopTool | undefined {
  for (const find of ofLoop) {
    const found = find(tool);
    if (found) return found;
  }
  return undefined;
}

/** A call whose answer the body that makes it may have had before it was made of steps. */
async function callFromBody(called: CalledTool): Promise<unknown> {
  const { name, input, config } = called;
  const before = answeredBefore({ kind: 'tool', name, request: { arguments: input } });
  if (before) return await revivedResult(before.answer, stateOf(config));
  return await askFromBody(async () => await callTool(called));
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * A tool that asks people interrupts the graph, which runs it again once it has the answer: that is another step, which
 * goes on from there.
 */
async function callTool(called: CalledTool): Promise<unknown> {
  const { name, input, config, call } = called;
  const position = { ...currentPosition()!, scope: scopeKey('body', name, { arguments: input }) };
  const { resume = [], interruptCounter = -1 } = graphConfig()?.configurable?.__pregel_scratchpad ?? {};
  const given = resume.slice(interruptCounter + 1);
  for (let known = 0; ; known++) {
    const answers = given.slice(0, known);
    const request = { arguments: input, ...(known > 0 && { answers }) };
    const { answer, live } = await askCall(called, request, position);
    const own = isOwnRecord(answer) ? (answer as Recorded) : undefined;
    if (own?.$langchain === 'interrupt') {
      if (live) return await live;
      if (known === given.length) interruptAgain(own.value, own.schema as object | undefined);
    } else if (own?.$langchain === 'graph') {
      const again = async () => await runToolBodyAgain(position, own.before, async () => await call(config));
      const body = async () => await (live ?? again());
      return await atItsEnd({ name, position, state: stateOf(config) }, body);
    } else {
      // LangGraph counts which of its answers were taken.
      if (!live) for (let taken = 0; taken < known; taken++) interrupt(null);
      return await revivedResult(answer, stateOf(config));
    }
  }
}

/** @returns what is recorded of it, and what it came to if that was in this loop */
async function askCall(
  { name, readOnly, input, config, call }: CalledTool,
  request: object,
  position: LoopPosition,
) {
  const asked = Promise.withResolvers<void>();
  let live: Promise<unknown> | undefined;
  const answer = await askStep<unknown>({
    kind: 'tool',
    name,
    request,
    input,
    ...(readOnly && { readOnly }),
    closure: keepContext(async (signal) => {
      const runsGraph = Promise.withResolvers<{ value: Recorded }>();
      const beforeGraph = async (before: AnswerBefore[]) => {
        runsGraph.resolve({ value: { $langchain: 'graph', before } });
        await asked.promise;
      };
      const own = { ...config, signal: eitherSignal(signal, config.signal) };
      live = runToolBody(position, beforeGraph, async () => await call(own));
      return await Promise.race([live.then(outcomeWith(stateOf(config)), bubbled), runsGraph.promise]);
    }),
  });
  asked.resolve();
  return { answer, live };
}

function outcomeWith(state: unknown): (result: unknown) => Promise<{ value?: unknown }> {
  return async (result) => {
    const value = await recordedResult(result, state);
    return value === undefined ? {} : { value };
  };
}

/** The state of the graph that calls it. */
function stateOf({ state }: CallConfig): unknown {
  return state ?? graphConfig()?.configurable?.__pregel_scratchpad?.currentTaskInput;
}

/** A graph interrupts itself by throwing, which is no failure. */
function bubbled(error: unknown): { value: Recorded } {
  const { is_bubble_up: isBubbleUp, interrupts } = (error ?? {}) as {
    is_bubble_up?: boolean;
    interrupts?: { value?: unknown; response_schema?: unknown }[];
  };
  const [first] = interrupts ?? [];
  if (!isBubbleUp || !first) throw error;
  const { value = null, response_schema: schema } = first;
  return {
    value: {
      $langchain: 'interrupt',
      value: plainJson(value),
      ...(schema !== undefined && { schema: plainJson(schema) }),
    },
  };
}

/** Throws as the tool did: the answers that there are come first. */
function interruptAgain(value: unknown, schema: object | undefined): never {
  for (;;) interrupt(value, schema && { responseSchema: schema as never });
}
