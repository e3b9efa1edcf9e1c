/** What a tool is, and what its options mean. */
import type { Duration, RetryPolicy } from '@temporalio/common';
import { DeclarationError, ToolInputError } from '../errors/index.ts';
import { assertKnownOptions } from '../known-options.ts';
import { NAME_PATTERN } from '../protocol/names.ts';
import type { OnUncertain, StepOptions } from '../protocol/step.ts';
import { type ApprovalRule, assertApprovalRule } from './approval-rule.ts';
import { assertCacheRule, type CacheRule } from './cache-rule.ts';
import { assertLimits, retryPolicy } from './retries-and-timeouts.ts';
import { isSchema, type JsonSchema, type Schema, validate } from './schema.ts';

/** What a tool's body gets beside its arguments. */
export interface ToolContext {
  /**
   * The same for every attempt of this call, over crashes, restarts, continue-as-new and reset; another for any other
   * call. Pass it on to whatever has an effect. Outside Temporal: a new one for each call.
   */
  idempotencyKey: string;
  /** Fires when the answer is no longer wanted: the run was cancelled, the call timed out, or the worker stops. */
  signal: AbortSignal;
}

/** What a tool is, what it does, and how its calls are run. */
export interface ToolOptions<Input, Args, Result> {
  /** What the model calls it, and the type of its activity: letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  /** A Standard Schema (zod 4.2 or newer, valibot, …), which validates, or a JSON Schema object, which only describes. */
  parameters: Schema<Input, Args> | JsonSchema;
  /** The body. Without one, a worker elsewhere, in any language, serves an activity of this name. */
  execute?: (args: Args, context: ToolContext) => Promise<Result> | Result;
  /**
   * How often a call that threw is tried again, or Temporal's own policy.
   * @default 2, after 1 s and 2 s
   */
  retries?: number | RetryPolicy;
  /** Temporal's `startToCloseTimeout`: the longest that one attempt may take. @default '5 minutes' */
  timeout?: Duration;
  /** Heartbeat timeout of a tool that a worker elsewhere serves; a tool with a body heartbeats by itself. */
  heartbeatTimeout?: Duration;
  /** Its own task queue, so its own machines. @default the agent's */
  taskQueue?: string;
  /**
   * Its body waits for people (`ask`), time (`sleep`) or agents: it runs as a child workflow of the tool's name, from its
   * records after a crash. `timeout` is then that of the whole call, `@default` none, and `retries` says how often the body
   * is started again, from its records, after it threw. @default false
   */
  suspends?: boolean;
  /** It has no effect outside. After a change of the agent's code it is asked again instead of served from before. */
  readOnly?: boolean;
  /**
   * What to do when its worker vanished and nobody knows whether it had its effect: `retry` with the same idempotency
   * key, `ask` a person, or `fail`. @default 'ask' where `requiresApproval` is set, else 'retry'
   */
  onUncertain?: OnUncertain;
  /**
   * A person must approve a call: `true`, the text the person reads, a function of the arguments that gives it (or
   * `false`: this call needs nobody), or an object with `prompt`, `timeout`, `onTimeout`, `allowEdit` and `audience`. Evaluated in the
   * agent's process whenever its loop is built; what a person was shown first stays.
   * @default false
   */
  requiresApproval?: ApprovalRule<Args>;
  /**
   * Whether the answer of an equal call is used again: `'auto'` in all runs of the namespace, `'run'` within a run, or
   * `{ ttl, version, key }`. Needs a blob store. Equal are name, parameters, `version`, the source of `execute` and the
   * arguments; a tool whose answer depends on who asks must say so in `key`. Failures are not kept. @default 'off'
   */
  cache?: CacheRule<Args>;
  /** Part of the call's fingerprint: change it when the body's meaning changes. */
  version?: string;
}

/**
 * A tool: a plain function, what each adapter's framework can call, and an activity by its own name.
 * Called inside a run it is a durable step; called outside, it just runs.
 */
export interface Tool<Input = unknown, Args = Input, Result = unknown> {
  (args: Input): Promise<Result>;
  readonly options: ToolOptions<Input, Args, Result>;
  /** Its parameters as JSON Schema. */
  readonly jsonSchema: JsonSchema;
  /** The tool whose body serves it: itself, or the one it was made from by `with`. */
  readonly origin: Tool<Input, Args, Result>;
  /** The same tool run in another way: `search.with({ taskQueue: 'gpu' })`. */
  with(changed: ToolChanges): Tool<Input, Args, Result>;
}

/** What `with` may change: how a tool is run, not what it is. */
export type ToolChanges = Pick<
  ToolOptions<any, any, any>,
  'retries' | 'timeout' | 'heartbeatTimeout' | 'taskQueue' | 'onUncertain'
>;

/** A method decorator: `@tool({ name, description, parameters })`. On an instance, the method is then a tool. */
export type ToolDecorator<Args> = <This extends object, Result>(
  method: (this: This, args: Args, context: ToolContext) => Promise<Result> | Result,
  context: ClassMethodDecoratorContext,
) => any;

/** The tool's arguments as its body gets them. @throws ToolInputError */
export async function toolArguments<Args>({ options }: Tool<any, Args, any>, input: unknown): Promise<Args> {
  const { name, parameters } = options;
  if (!isSchema(parameters)) return input as Args;
  return (await validate(parameters as Schema, input, (issues) => {
    return new ToolInputError(`The arguments of tool ${name} do not fit its parameters: ${issues}`);
  })) as Args;
}

/** The tool's own options in the protocol's words; only what differs from the defaults. */
export function stepOptions({ options }: Tool<any, any, any>): StepOptions {
  const { retries, timeout, taskQueue, heartbeatTimeout, onUncertain } = options;
  return {
    ...(retries !== undefined && { retry: retryPolicy(retries) }),
    ...(timeout !== undefined && { startToCloseTimeout: timeout }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(heartbeatTimeout !== undefined && { heartbeatTimeout }),
    ...(onUncertain !== undefined && { onUncertain }),
  };
}

const OPTIONS = new Set<keyof ToolOptions<any, any, any>>([
  'name',
  'description',
  'parameters',
  'execute',
  'retries',
  'timeout',
  'heartbeatTimeout',
  'taskQueue',
  'suspends',
  'readOnly',
  'onUncertain',
  'requiresApproval',
  'cache',
  'version',
]);

/** @throws DeclarationError for a bad name, an option that does not exist, or one that cannot be meant */
export function assertToolOptions(options: ToolOptions<any, any, any>): void {
  const { name, parameters } = options;
  if (typeof name !== 'string' || !NAME_PATTERN.test(name)) {
    throw new DeclarationError(
      `Cannot declare a tool named ${JSON.stringify(name)}: providers take letters, digits, "_" and "-", at most 64, not starting with a digit.`,
    );
  }
  assertKnownOptions(options, OPTIONS, `Cannot declare tool ${name}`);
  if (!isSchema(parameters) && (typeof parameters !== 'object' || parameters === null)) {
    throw new DeclarationError(
      `Cannot declare tool ${name}: "parameters" must be a schema; z.object({}) takes nothing.`,
    );
  }
  assertLimits(options, ['timeout', 'heartbeatTimeout'], `Cannot declare tool ${name}`);
  assertApprovalRule(`Cannot declare tool ${name}`, options.requiresApproval);
  assertCacheRule(name, options.cache, options);
  assertSuspends(options);
  if (!['retry', 'ask', 'fail', undefined].includes(options.onUncertain)) {
    throw new DeclarationError(
      `Cannot declare tool ${name}: "onUncertain" must be 'retry', 'ask' or 'fail'.`,
    );
  }
}

/** What is said of activities says nothing of a child workflow. */
function assertSuspends(options: ToolOptions<any, any, any>): void {
  const { name, suspends } = options;
  if (!suspends) return;
  if (typeof suspends !== 'boolean')
    throw new DeclarationError(`Cannot declare tool ${name}: "suspends" must be true or false.`);
  const beside = (['cache', 'heartbeatTimeout', 'onUncertain'] as const).find(
    (each) => options[each] !== undefined,
  );
  if (beside)
    throw new DeclarationError(`Cannot declare tool ${name}: "${beside}" does not go with "suspends".`);
}
