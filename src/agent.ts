import type { Duration, RetryPolicy } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { approvedStart } from './approved-start.ts';
import { AgentInputError, AgentOutputError, DeclarationError } from './errors/index.ts';
import { sayDurabilityIsOff } from './durability-off.ts';
import { askStep } from './loop/ask.ts';
import { currentPosition } from './loop/current-loop.ts';
import { assertRecordable } from './loop/recordable.ts';
import type { RunSettings } from './protocol/advance.ts';
import type { Budget } from './protocol/budget.ts';
import { assertKnownOptions } from './known-options.ts';
import { NAME_PATTERN } from './protocol/names.ts';
import { readBudget } from './records/budget-limits.ts';
import { type ApprovalRule, assertApprovalRule } from './tools/approval-rule.ts';
import { type Schema, validate } from './tools/schema.ts';

/** What an agent's function gets beside its input. */
export interface AgentContext {
  /** Fires when the run is cancelled, or when this loop is dropped and another takes over. */
  signal: AbortSignal;
}

/** How an agent's runs are checked, retried and placed. */
export interface AgentOptions {
  /** Validates what the agent is started with, also when another agent starts it. */
  input?: Schema<any, any>;
  /** Validates what it returns. */
  output?: Schema<any, any>;
  /**
   * How often the function is started again, from its records, after it threw; after 1 s, 2 s, 4 s, … An error that a
   * restart can only repeat (a recorded failure, one of this package's) ends the run at once. @default 2
   */
  retries?: number;
  /** Retry policy of model turns that failed recoverably. @default 5 attempts, from 1 s, at most 1 minute apart */
  turnRetry?: RetryPolicy;
  /** `startToCloseTimeout` of one attempt of a model turn. @default '10 minutes' */
  turnTimeout?: Duration;
  /**
   * What each run of it may spend, all its children included. A run that is started with a `budget` in its memo has that
   * instead, field by field; one that another agent starts has this, within what is left of that agent's. @default no limit
   */
  budget?: Budget;
  /** Where the agent runs when another agent starts it. @default that agent's task queue */
  taskQueue?: string;
  /**
   * A person must approve each run before any of its code runs, whoever starts it: as a tool's `requiresApproval`, of its
   * input. The approval is called `start-1`; in a child, `researcher-1/start-1`. A rejected run fails with
   * AgentRejectedError, also when it is resumed. @default false
   */
  requiresApproval?: ApprovalRule<any>;
}

/**
 * An agent: a named function inside which a framework runs. Typed as a workflow, so a Temporal client starts it:
 * `client.workflow.start(support, { taskQueue, workflowId, args: ['…'] })`. Called inside another agent it is a child
 * workflow; called outside Temporal it just runs.
 */
export interface Agent<Input = any, Output = any> {
  (...input: undefined extends Input ? [input?: Input] : [input: Input]): Promise<Output>;
  readonly agentName: string;
  readonly options: AgentOptions;
  /** @internal What its options mean for its runs. */
  readonly settings: RunSettings;
  /** @internal Runs the function, its input and output validated. */
  execute(input: unknown, context: AgentContext): Promise<unknown>;
}

const OPTIONS = new Set<keyof AgentOptions>([
  'input',
  'output',
  'retries',
  'turnRetry',
  'turnTimeout',
  'budget',
  'taskQueue',
  'requiresApproval',
]);

/**
 * Declares an agent.
 * @param name the workflow type of its runs: letters, digits, `_` and `-`, at most 64
 * @param run the agent's code; it may be started again from the top at any time, so what it does beside model turns and
 *   tools and is not to happen again belongs in `step()`
 * @throws DeclarationError for a bad name, or an option that does not exist
 */
export function agent<Input, Output>(
  name: string,
  run: (input: Input, context: AgentContext) => Promise<Output>,
  options: AgentOptions = {},
): Agent<Input, Output> {
  if (!NAME_PATTERN.test(name)) {
    throw new DeclarationError(
      `Cannot declare an agent named ${JSON.stringify(name)}: use letters, digits, "_" and "-", at most 64, not starting with a digit.`,
    );
  }
  if (name in Object.prototype) {
    throw new DeclarationError(
      `Cannot declare an agent named "${name}": every object has a property of that name. Use another.`,
    );
  }
  assertKnownOptions(options, OPTIONS, `Cannot declare agent ${name}`);
  assertApprovalRule(`Cannot declare agent ${name}`, options.requiresApproval);
  const { retries, turnRetry, turnTimeout, taskQueue } = options;
  const budget = options.budget === undefined ? undefined : readBudget(options.budget, msToNumber);
  if (typeof budget === 'string')
    throw new DeclarationError(`Cannot declare agent ${name}: its budget is not valid: ${budget}.`);
  const fit = async (input: unknown): Promise<unknown> =>
    options.input
      ? await validate(
          options.input,
          input,
          (issues) => new AgentInputError(`The input of agent ${name} does not fit: ${issues}`),
        )
      : input;
  const execute = async (input: unknown, context: AgentContext): Promise<unknown> => {
    const given = await approvedStart(name, options, await fit(input), fit);
    const output = await run(given as Input, context);
    const result = options.output
      ? await validate(
          options.output,
          output,
          (issues) => new AgentOutputError(`The output of agent ${name} does not fit: ${issues}`),
        )
      : output;
    assertRecordable(result, `The output of agent ${name}`);
    return result;
  };
  const call = async (input?: Input): Promise<Output> => {
    if (!currentPosition()) {
      sayDurabilityIsOff();
      return (await execute(input, { signal: new AbortController().signal })) as Output;
    }
    await fit(input);
    return await askStep<Output>({
      kind: 'agent',
      name,
      request: { input },
      input,
      ...(taskQueue !== undefined && { options: { taskQueue } }),
    });
  };
  const settings: RunSettings = {
    ...(retries !== undefined && { agentRetries: retries }),
    ...(turnRetry && { turnRetry }),
    ...(turnTimeout !== undefined && { turnTimeout }),
    ...(budget && { budget }),
  };
  Object.defineProperty(call, 'name', { value: name });
  return Object.assign(call, { agentName: name, options, settings, execute });
}
