/** One step to one Temporal call: how each kind of step gets its answer. */
import * as wf from '@temporalio/workflow';
import type { CallResult, ToolEnvelope } from '../src/protocol/advance.ts';
import { AHEAD, CALL, STEP, TURN } from '../src/protocol/names.ts';
import { MAX_LOST_HOSTS } from '../src/protocol/limits.ts';
import type { OnUncertain, Step } from '../src/protocol/step.ts';
import {
  type ActivityOutcome,
  bytesFailure,
  callOutcome,
  hasNotBegun,
  NOT_KEPT,
  SHUTDOWN_TYPES,
  stepFailure,
  TOOK_TOO_LONG,
  toolOutcome,
  VANISHED_TIMEOUTS,
} from '../src/records/outcomes.ts';
import { stepSummary } from '../src/records/step-summary.ts';
import { child } from './children.ts';
import { approvalInFork, approved, decisionOn, settleUncertain, uncertainRule } from './decisions.ts';
import { activityOutcome } from './failures.ts';
import { read } from './messages.ts';
import { type Answer, type InFlight, inputOf, type StepContext } from './step-context.ts';

const TURN_RETRY: wf.RetryPolicy = { maximumAttempts: 5, initialInterval: '1s', maximumInterval: '1 minute' };
const TOOL_RETRY: wf.RetryPolicy = { maximumAttempts: 3 };
const ONCE: wf.RetryPolicy = { maximumAttempts: 1 };
/**
 * How long the workers that take a tool may not be able to begin it (a rolling deploy, a store that is away) until that is
 * its answer.
 */
const NOT_BEGUN_MS = 10 * 60_000;

/** Gets the answer to a step. `undefined`: its host was lost, and the loop will ask again. */
export async function takeStep(
  run: StepContext,
  flight: InFlight,
  eager: boolean,
): Promise<Answer | undefined> {
  const { step } = flight;
  switch (step.kind) {
    case 'approval':
      return { value: await decisionOn(run, flight, step.key, step.approval ?? { prompt: step.name }) };
    case 'sleep':
      return await sleepUntilDue(run, step);
    case 'message':
      return { value: await read(run, flight) };
    case 'agent':
      return { value: await child(run, flight) };
    case 'tool':
    case 'turn':
    case 'step': {
      const approval = run.asksEffects ? approvalInFork(step) : step.approval;
      if (approval) {
        const { refusal, ...rest } = await approved(run, flight, approval);
        if (refusal) return { failure: refusal };
        Object.assign(flight, rest);
      }
      if (step.suspends) {
        flight.doing = 'agent';
        return { value: await child(run, flight) };
      }
      if (run.underWay.has(step.key)) {
        const verdict = await settleUncertain(run, flight, uncertainRule(step));
        if (verdict) return verdict;
      }
      if (step.kind === 'turn' && run.budget.isLimited) {
        const refusal = await run.budget.reserve(flight, run.losses.get(step.key) ?? 0);
        if (refusal) return { failure: refusal };
      }
      if (step.kind === 'tool' && !step.readOnly) run.started.add(step.key);
      return step.local ? await call(run, flight) : await tool(run, flight, eager);
    }
  }
}

async function sleepUntilDue(run: StepContext, step: Step): Promise<Answer> {
  const due = run.sleeps.get(step.key) ?? Date.now() + (step.input as number);
  run.sleeps.set(step.key, due);
  await wf.sleep(Math.max(1, due - Date.now()), { summary: 'the agent sleeps' });
  run.sleeps.delete(step.key);
  return {};
}

/** A tool: an activity by its own name. Its activity id is the idempotency key, for a worker in any language. */
async function tool(run: StepContext, flight: InFlight, eager: boolean): Promise<Answer | undefined> {
  const { step } = flight;
  const { options = {} } = step;
  const onUncertain = uncertainRule(step);
  const retry = options.retry ?? TOOL_RETRY;
  const heartbeatTimeout = options.heartbeatTimeout ?? (step.heartbeats && run.link.heartbeatTimeout);
  for (;;) {
    if (flight.attempts > 0) await run.link.mayAct();
    flight.attempts++;
    try {
      const result = await wf.scheduleActivity(step.name, [inputOf(flight)], {
        activityId: `${run.chain}:${step.key}`,
        startToCloseTimeout: options.startToCloseTimeout ?? '5 minutes',
        ...(heartbeatTimeout !== undefined && { heartbeatTimeout }),
        ...(options.taskQueue !== undefined && { taskQueue: options.taskQueue }),
        allowEagerDispatch: eager,
        summary: stepSummary(step),
        retry: {
          ...retry,
          nonRetryableErrorTypes: [
            ...(retry.nonRetryableErrorTypes ?? []),
            ...SHUTDOWN_TYPES,
            ...(onUncertain === 'retry' ? [] : [...VANISHED_TIMEOUTS, NOT_KEPT]),
          ],
        },
      });
      // Our own tools refuse this themselves; what a worker in another language sent, JSON would turn into something else.
      if (ArrayBuffer.isView(result)) return { failure: bytesFailure(`tool ${step.name}`) };
      if (!isEnvelope(result)) return { value: result };
      const { value, blob, cached, [AHEAD]: ahead } = result;
      return {
        ...(blob ? { blob } : { value }),
        ...(cached && { cached }),
        ...(ahead && { ahead }),
      };
    } catch (error) {
      const failure = activityOutcome(error);
      if (!failure) throw error;
      const outcome = toolOutcome(failure, onUncertain);
      const tooLate = hasNotBegun(failure) && Date.now() - flight.askedAt > NOT_BEGUN_MS;
      if (outcome === 'record' || tooLate) return { failure: stepFailure(`tool ${step.name}`, failure) };
      if (outcome === 'uncertain') {
        const verdict = await settleUncertain(run, flight, onUncertain);
        if (verdict) return verdict;
      } else if (hasNotBegun(failure)) {
        await run.link.mayAct();
        await wf.sleep('2 seconds', { summary: `until a worker can begin ${step.name}` });
      }
    }
  }
}

function isEnvelope(result: unknown): result is ToolEnvelope {
  return typeof result === 'object' && result !== null && AHEAD in result;
}

/**
 * A closure of the loop: a model turn, a named step, a framework's own tool. Its first attempt goes to the run's queue,
 * eagerly, which is the host more often than not; later ones to the host's own queue, with the step's retries.
 */
async function call(run: StepContext, flight: InFlight): Promise<Answer | undefined> {
  const { step } = flight;
  const { settings } = run.link;
  const type = step.kind === 'turn' ? TURN : step.kind === 'step' ? STEP : CALL;
  const retry = step.options?.retry ?? (step.kind === 'turn' ? (settings.turnRetry ?? TURN_RETRY) : ONCE);
  const attempts = retry.maximumAttempts ?? 0;
  const onUncertain = uncertainRule(step);
  const options: wf.ActivityOptions = {
    activityId: step.key,
    startToCloseTimeout: step.options?.startToCloseTimeout ?? settings.turnTimeout ?? '10 minutes',
    heartbeatTimeout: step.options?.heartbeatTimeout ?? run.link.heartbeatTimeout,
    summary: stepSummary(step),
  };
  flight.attempts++;
  const args = flight.edited ? [{ arguments: flight.edited.arguments }] : [];
  let result = await attempt(type, args, { ...options, retry: ONCE });
  if (result.failure) {
    const outcome = callOutcome(result.failure, true, onUncertain);
    const final = retry.nonRetryableErrorTypes?.includes(result.failure.type ?? '');
    if (outcome === 'retry' && attempts !== 1 && !final) {
      flight.attempts++;
      await run.link.mayAct();
      const wait = result.failure.details?.retryAfterMs ?? retry.initialInterval ?? '1s';
      await wf.sleep(wait, { summary: `until ${step.name} is tried again` });
      result = { moved: true };
    } else if (outcome === 'moved') result = { moved: true };
  }
  if (result.moved) {
    await run.link.mayAct();
    result = await attempt(type, args, {
      ...options,
      taskQueue: run.link.host,
      scheduleToStartTimeout: '5s',
      retry: {
        ...retry,
        ...(attempts > 1 && { maximumAttempts: Math.max(1, attempts - 1) }),
        nonRetryableErrorTypes: [
          ...(retry.nonRetryableErrorTypes ?? []),
          ...SHUTDOWN_TYPES,
          ...(onUncertain === 'retry'
            ? [VANISHED_TIMEOUTS[0]!]
            : [...VANISHED_TIMEOUTS, TOOK_TOO_LONG, NOT_KEPT]),
        ],
      },
    });
  }
  const { failure } = result;
  if (failure) {
    const outcome = callOutcome(failure, false, onUncertain);
    if (outcome === 'record') {
      const failed = stepFailure(`${step.kind} ${step.name}`, failure);
      // A provider that refuses a turn says so with a status, and charges nothing.
      const isPerhapsPaid = step.kind === 'turn' && failed.status === undefined;
      const lost = isPerhapsPaid && Math.max(1, failed.recoverable ? attempts : 1);
      return { failure: failed, ...(lost && { lost }) };
    }
    if (outcome === 'killed') return await afterLoss(run, flight, onUncertain);
    if (outcome === 'uncertain') return await settleUncertain(run, flight, onUncertain);
    return undefined;
  }
  if (result.moved) return undefined; // the host itself does not know the closure: its loop is gone
  const { usage, usd, lost, ahead, blob, cached } = result;
  return {
    ...('value' in result && { value: result.value }),
    ...(blob && { blob }),
    ...(cached && { cached }),
    ...(usage && { usage }),
    ...(usd !== undefined && { usd }),
    ...(lost && { lost }),
    ...(ahead && { ahead }),
  };
}

/** The host died under a closure. A step that loses one host after the other is taken for the cause. */
async function afterLoss(run: StepContext, flight: InFlight, rule: OnUncertain): Promise<Answer | undefined> {
  const { step } = flight;
  const losses = (run.losses.get(step.key) ?? 0) + 1;
  run.losses.set(step.key, losses);
  if (losses >= MAX_LOST_HOSTS) {
    const message = `${step.kind} ${step.name} lost its worker ${losses} times: it kills or blocks its process.`;
    return { failure: { name: 'StepKillsWorkerError', message } };
  }
  return await settleUncertain(run, flight, rule);
}

type Attempt = CallResult & { failure?: ActivityOutcome };

async function attempt(type: string, args: unknown[], options: wf.ActivityOptions): Promise<Attempt> {
  try {
    return await wf.scheduleActivity<CallResult>(type, args, options);
  } catch (error) {
    const failure = activityOutcome(error);
    if (!failure) throw error;
    return { failure };
  }
}
