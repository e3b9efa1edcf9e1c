/** How code inside a run asks it for a step; what adapters are made of. */
import type { EditedArguments } from '../protocol/step.ts';
import { currentPosition } from './current-loop.ts';
import { whileGivenBack } from './held.ts';
import type { Loop } from './loop.ts';
import { oncePerPlace } from './places.ts';
import type { StepRequest } from './step-request.ts';

/** Whether the running code is part of a run, so that `askStep` may be called. */
export function insideRun(): boolean {
  return currentPosition() !== undefined;
}

/**
 * Asks the run for a step and waits for its answer: the recorded one after a restart, with no sign of it.
 * @throws the recorded failure, with its class's name, message, code and status; `CancelledFailure` once the run is cancelled
 */
export function askStep<T>(request: StepRequest): Promise<T> {
  const position = currentPosition();
  if (!position)
    throw new Error(`Cannot ask for ${request.kind} ${request.name}: this code is not part of a run.`);
  const asked = oncePerPlace(position, request, (kept) => {
    // What is kept of an answer must not keep its request, which may be a whole conversation.
    const by: Asked<T>['by'] = {};
    return { answer: askLoop<T>(position.loop, request, by), by, kept };
  });
  // Whoever has it may change it, and the code that runs again is to have it as it was.
  const answer = asked.kept ? asked.answer.then((value) => structuredClone(value)) : asked.answer;
  return answer.finally(() => {
    if (asked.by.edited) request.onEdited?.(asked.by.edited);
  });
}

interface Asked<T> {
  answer: Promise<T>;
  kept: boolean;
  by: { edited?: EditedArguments };
}

async function askLoop<T>(loop: Loop, request: StepRequest, by: Asked<T>['by']): Promise<T> {
  const ask = () => loop.ask<T>({ ...request, onEdited: (edited) => void (by.edited = edited) });
  return await (request.approval ? whileGivenBack(ask) : ask());
}

/** Key of a call that is not a step itself, such as an agent as a tool: the scope of the steps asked within it. */
export function scopeKey(kind: string, name: string, request: unknown): string {
  const position = currentPosition();
  if (!position) return '';
  const { loop, scope } = position;
  return oncePerPlace(position, { kind, name, request }, () =>
    loop.keys.next({ kind, name, request, scope }),
  );
}
