/** A tool that is made of steps has a last one, which is what it came to: its body is not run again once that is known. */
import { isGraphBubbleUp } from '@langchain/langgraph';
import { fromStepFailure, toStepFailure } from '../../src/errors/failure.ts';
import { askStep } from '../../src/loop/ask.ts';
import { type LoopPosition, runAt } from '../../src/loop/current-loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import type { StepFailure } from '../../src/protocol/step.ts';
import { recordedResult, revivedResult } from './tool-results.ts';

interface End {
  /** Absent: it has none. */
  result?: unknown;
  failure?: StepFailure;
  /** The so-many-th time that the body was run in its loop: a graph that waits for people has its node run again. */
  run: number;
  /** Keys of the steps that it was made of. */
  steps: string[];
}
interface Called {
  name: string;
  /** Where its steps are asked. */
  position: LoopPosition;
  /** The graph's that calls it. */
  state: unknown;
}

/** How often the bodies of a loop were run, by scope, and what they came to. */
const bodies = perLoop(() => new Map<string, { runs: number; end?: End }>());

/** Runs a body to its end, or gives what an earlier loop came to. */
export async function atItsEnd(
  { name, position, state }: Called,
  body: () => Promise<unknown>,
): Promise<unknown> {
  const { loop, scope } = position;
  const known = bodies(loop);
  const own = known.get(scope) ?? { runs: 0 };
  known.set(scope, own);
  const run = ++own.runs;
  const step = { kind: 'tool' as const, name, request: { ended: true } };
  const before = own.end ?? (loop.answerBefore({ ...step, scope }) as End | undefined);
  // Before that it was interrupted, as it is again.
  const isOver = before !== undefined && run >= before.run;
  if (isOver) loop.passOver(before.steps);
  const value = isOver ? before : { ...(await endOf(body, state)), run, steps: loop.recordedWithin(scope) };
  own.end ??= await runAt(
    position,
    async () => await askStep<End>({ ...step, closure: async () => ({ value }) }),
  );
  const { result, failure } = own.end;
  if (failure) throw fromStepFailure(failure);
  return await revivedResult(structuredClone(result), state);
}

async function endOf(body: () => Promise<unknown>, state: unknown): Promise<Pick<End, 'result' | 'failure'>> {
  try {
    const result = await recordedResult(await body(), state);
    return result === undefined ? {} : { result };
  } catch (error) {
    // A graph that waits for people, or hands over to the one above it, says so by throwing.
    if (isGraphBubbleUp(error)) throw error;
    return { failure: toStepFailure(error) };
  }
}
