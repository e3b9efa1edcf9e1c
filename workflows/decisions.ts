/** What a run waits for a person with: a decision on a step, and on what nobody knows the outcome of. */
import * as wf from '@temporalio/workflow';
import type { EditedArguments, OnUncertain, Step, StepApproval, StepFailure } from '../src/protocol/step.ts';
import type { Answer, InFlight, StepContext } from './step-context.ts';

/** What a run that goes on from the middle of another asks before it does again what may have an effect: a person. */
export function approvalInFork({ kind, name, readOnly, approval }: Step): StepApproval | undefined {
  if (kind !== 'tool' || readOnly) return approval;
  const asked = approval ?? { prompt: `run ${name}, which may have an effect, once more for it?` };
  // Without a time that would decide for one.
  const { timeoutMs: _timeout, onTimeout: _onTimeout, escalate: _escalate, prompt, ...rest } = asked;
  return { prompt: `This run is a fork: ${prompt}`, ...rest };
}

export function uncertainRule({ options, approval }: Step): OnUncertain {
  return options?.onUncertain ?? (approval ? 'ask' : 'retry');
}

export async function decisionOn(run: StepContext, flight: InFlight, key: string, approval: StepApproval) {
  const { step } = flight;
  const expiresAt = run.approvals.ask(key, {
    ...approval,
    name: step.name,
    ...(step.input !== undefined && { input: step.input }),
    at: flight.askedAt,
  });
  const { doing } = flight;
  flight.doing = 'approval';
  const timer = new wf.CancellationScope();
  if (expiresAt !== undefined) void timer.run(() => expireAt(run, key, expiresAt)).catch(() => {});
  try {
    await wf.condition(() => run.approvals.decision(key) !== undefined);
    await run.link.mayAct();
    // An answer to what the present loop has not asked for is kept, but starts nothing until a loop asks.
    await wf.condition(() => run.askedNow(step.key));
  } finally {
    timer.cancel();
    run.approvals.close(key);
  }
  flight.doing = doing;
  return run.approvals.decision(key)!;
}

async function expireAt(run: StepContext, key: string, expiresAt: number): Promise<void> {
  for (let at: number | undefined = expiresAt; at !== undefined;) {
    await wf.sleep(Math.max(1, at - Date.now()), { summary: 'until it is decided without a person' });
    at = run.approvals.expire(key, Date.now());
    run.describe();
    if (at !== undefined) await run.link.mayAct();
  }
}

/** Whether a step may be started, and with what: as it was asked, or as a person changed it. */
export async function approved(
  run: StepContext,
  flight: InFlight,
  approval: StepApproval,
): Promise<{ refusal: StepFailure } | { refusal?: undefined; edited?: EditedArguments }> {
  const decision = await decisionOn(run, flight, flight.step.key, approval);
  const { reason = `${flight.step.name} was not approved.`, arguments: changed, by } = decision;
  if (!decision.approved) return { refusal: { name: 'ToolRejectedError', message: reason } };
  if (changed === undefined) return {};
  return { edited: { arguments: changed, ...(by !== undefined && { by }) } };
}

/** Nobody knows whether the step had its effect. `undefined`: run it again. */
export async function settleUncertain(
  run: StepContext,
  flight: InFlight,
  rule: OnUncertain,
): Promise<Answer | undefined> {
  const { step } = flight;
  const what = `The worker that ran ${step.name} vanished: it may or may not have had its effect.`;
  const failure = { name: 'UncertainStepError', message: what };
  if (rule === 'fail') return { failure };
  if (rule === 'retry') return undefined;
  const prompt = `${what} Approve to run it again with the same idempotency key, reject to tell the agent that it failed.`;
  // Each time is a question of its own, also in the next run of the chain.
  let time = 1;
  while (run.approvals.decision(`${step.key}?${time}`)) time++;
  const { argumentsHash } = step.approval ?? {};
  const approval = { prompt, ...(argumentsHash !== undefined && { argumentsHash }) };
  const decision = await decisionOn(run, flight, `${step.key}?${time}`, approval);
  if (decision.approved) return undefined;
  return { failure: { ...failure, message: decision.reason ?? what } };
}
