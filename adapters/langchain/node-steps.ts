/** Nodes and tasks of a graph that are one step each, if whoever runs the graph says so. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isBaseMessage } from '@langchain/core/messages';
import { isGraphBubbleUp } from '@langchain/langgraph';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { insideRun, scopeKey } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { askForCode, type StepCallOptions } from '../../src/step.ts';
import { assertLimits } from '../../src/tools/retries-and-timeouts.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { comparableMessages } from './messages.ts';
import { runBody } from './step-body.ts';
import { recordedResult, revivedResult } from './tool-results.ts';

/** A compiled graph of nodes, or of functions (`entrypoint`). */
interface Graph {
  name?: string;
  nodes: Record<string, { bound: object }>;
}
/** What LangGraph makes of the function of a node, an entrypoint and a task. */
interface Callable {
  name?: string;
  invoke(input: unknown, config?: NodeConfig): Promise<unknown>;
}
interface NodeConfig {
  metadata?: Record<string, unknown>;
  signal?: AbortSignal;
}

/** By the nodes of their graph: `withConfig` gives another graph with the same. */
const declared = new WeakMap<object, ReadonlyMap<string, StepCallOptions>>();
const STEP_OPTIONS = new Set(['retries', 'timeout']);
const running = new AsyncLocalStorage<Partial<Graph>>();

/**
 * Makes nodes of a graph, or tasks of an `entrypoint`, one step each inside a run: their function is not run again once it
 * has an answer, and models and tools in it are no steps of their own. For functions that do something beside models and
 * tools. Known by name and by what they are given; tried once, as LangGraph's `retryPolicy` is on top.
 * @param steps names, or how each is run; `retries` is 0 by default
 * @returns the same graph; declared again, the last counts
 * @throws DeclarationError for a node that the graph does not have or that is a graph or a runnable itself; in a run
 *   `UnsupportedError` if such a function asks people by `interrupt()`
 */
export function nodesAsSteps<G extends object>(
  graph: G,
  steps: readonly string[] | Readonly<Record<string, StepCallOptions>>,
): G {
  const entries = Array.isArray(steps)
    ? (steps as string[]).map((name): [string, StepCallOptions] => [name, {}])
    : Object.entries(steps as Record<string, StepCallOptions>);
  const { name: graphName = 'the graph', nodes } = graph as Partial<Graph>;
  if (!nodes) throw new DeclarationError('Cannot make nodes steps: that is no compiled graph.');
  const functions = Object.values(nodes).filter(({ bound }) => isFunction(bound));
  // The tasks of an entrypoint are known only as they are called.
  const isEntrypoint = Object.keys(nodes).length === 1 && functions.length === 1;
  for (const [name, options] of entries) {
    const cannot = `Cannot make node ${name} of ${graphName} a step`;
    assertKnownOptions(options, STEP_OPTIONS, cannot);
    assertLimits(options, ['timeout'], cannot);
    if (isEntrypoint) continue;
    if (!nodes[name]) throw new DeclarationError(`${cannot}: there is no such node.`);
    if (!isFunction(nodes[name].bound))
      throw new DeclarationError(`${cannot}: it is a graph or a runnable, not a function. Call it in one.`);
  }
  for (const { bound } of functions) instrument(bound);
  declared.set(nodes, new Map(entries));
  return graph;
}

/** Runs a graph, whose nodes those are that run now. */
export function whileRunning<T>(graph: object, body: () => T): T {
  return running.run(graph, body);
}

function isFunction(bound: object): boolean {
  return typeof (bound as { func?: unknown }).func === 'function';
}

/** The class that LangGraph has for functions, in the copy that this one is of. */
function instrument(bound: object): void {
  patchMethod(bound, 'invoke', (invoke) => {
    return async function (this: Callable, input: unknown, config: NodeConfig = {}) {
      const { name = '' } = this;
      const options = declared.get(running.getStore()?.nodes ?? {})?.get(name);
      const isStep = options && config.metadata?.['langgraph_node'] === name && insideRun();
      const call = async (own: NodeConfig) => await (invoke.call(this, input, own) as Promise<unknown>);
      return await (isStep ? takeNode(name, input, config, call, options) : call(config));
    };
  });
}

async function takeNode(
  name: string,
  input: unknown,
  config: NodeConfig,
  call: (own: NodeConfig) => Promise<unknown>,
  options: StepCallOptions,
): Promise<unknown> {
  const request = { given: comparable(input) };
  const position = { ...currentPosition()!, scope: scopeKey('body', name, request) };
  const code = keepContext(async (signal: AbortSignal) => {
    const own = { ...config, signal: eitherSignal(signal, config.signal) };
    try {
      return await recordedResult(await runBody(position, async () => await call(own)), input);
    } catch (error) {
      if (!isGraphBubbleUp(error)) throw error;
      throw new UnsupportedError(
        `Cannot ask people in node ${name}, which is a step: interrupt() runs a node again. Ask in a node of its own, or do not make this one a step.`,
      );
    }
  });
  return await revivedResult(await askForCode(name, request, code, options), input);
}

/** What a node is given, without the ids that are minted on the way. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value))
    return value.length > 0 && value.every(isBaseMessage) ? comparableMessages(value) : value.map(comparable);
  if (isBaseMessage(value)) return comparableMessages([value]);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  // What these hold are no fields.
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, comparable(inner)]));
}
