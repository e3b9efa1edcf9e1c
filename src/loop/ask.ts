/** How code inside a run asks it for a step; what adapters are made of. */
import type { EditedArguments } from '../protocol/step.ts';
import { currentPosition } from './current-loop.ts';
import { whileGivenBack } from './held.ts';
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
  const asked = oncePerPlace(position, request, () => {
    let edited: EditedArguments | undefined;
    const ask = () => position.loop.ask<T>({ ...request, onEdited: (by) => void (edited = by) });
    return { answer: request.approval ? whileGivenBack(ask) : ask(), edited: () => edited };
  });
  return asked.answer.finally(() => {
    const edited = asked.edited();
    if (edited) request.onEdited?.(edited);
  });
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
