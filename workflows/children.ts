/** Agents that an agent starts, and tools that suspend: children, whose approvals are seen and decided here too. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import * as wf from '@temporalio/workflow';
import type { Nesting, RunOrigin } from '../src/protocol/advance.ts';
import type { Step } from '../src/protocol/step.ts';
import { restartsOf } from '../src/records/outcomes.ts';
import { childId } from '../src/records/run-report.ts';
import { stepSummary } from '../src/records/step-summary.ts';
import { childOfBefore } from './read-run.ts';
import { type InFlight, inputOf, type StepContext } from './step-context.ts';

export async function child(run: StepContext, flight: InFlight): Promise<unknown> {
  const { asksEffects, reopened, nested } = run;
  const { step } = flight;
  const id = childId(wf.workflowInfo().workflowId, step);
  // The child of the run that is resumed is resumed too, or was done without its parent.
  const before = reopened.has(step.key) ? await childOfBefore(id) : undefined;
  if (before && !before.from) return before.result;
  const from = before?.from;
  if (reopened.has(step.key)) await run.link.mayAct();
  for (let start = 1; ; start++) {
    const workflowId = start === 1 ? id : `${id}.${start}`;
    const nesting = nestingOf(run, step, workflowId);
    const origin: RunOrigin = {
      version: 1,
      ...(from && { from }),
      ...(asksEffects && { asksEffects }),
      nesting,
    };
    nested.childStarted(workflowId, nesting.path);
    let neverWas = false;
    try {
      return await wf.executeChild(step.name, {
        args: [from ? null : inputOf(flight), origin],
        workflowId,
        staticSummary: stepSummary(step),
        parentClosePolicy: 'REQUEST_CANCEL',
        ...limits(step),
      });
    } catch (error) {
      // After a reset, the child of the run that was reset may still be ending under this id.
      neverWas = error instanceof WorkflowExecutionAlreadyStartedError;
      if (!neverWas || start === 5) throw error;
      await run.link.mayAct();
    } finally {
      nested.childEnded(workflowId);
      run.budget.childEnded(workflowId, neverWas);
    }
  }
}

/** How the child is called here and above, the same for as long as its step is asked. */
function nestingOf(
  { approvals, labels, chain, budget }: StepContext,
  step: Step,
  workflowId: string,
): Nesting {
  const label = labels.get(step.key) ?? approvals.mint(step.name);
  labels.set(step.key, label);
  const { retry } = step.options ?? {};
  const allowance = budget.childStarted(workflowId);
  return {
    path: `${label}/`,
    ...(allowance && { allowance }),
    ...(step.suspends && { idempotencyKey: `${chain}:${step.key}` }),
    // A body that threw is started again from its records, which a retry of the workflow would not have.
    ...(step.suspends && retry && { retries: restartsOf(retry) }),
  };
}

function limits({ options, suspends }: Step): Partial<wf.ChildWorkflowOptions> {
  const { taskQueue, startToCloseTimeout } = options ?? {};
  return {
    ...(taskQueue !== undefined && { taskQueue }),
    ...(suspends && startToCloseTimeout !== undefined && { workflowExecutionTimeout: startToCloseTimeout }),
  };
}
