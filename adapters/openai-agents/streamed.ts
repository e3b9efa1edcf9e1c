/** A streamed run that waits for a person goes on in the same stream once all is decided. */
import type { RunState, RunStreamEvent, StreamedRunResult } from '@openai/agents';
import { patchMethod } from '../patch-method.ts';
import { askApprovals } from './interrupts.ts';
import { currentSdkRun } from './sdk-run.ts';

/** With what the SDK's runner calls on it. */
interface Streamed extends StreamedRunResult<any, any> {
  _addItem(event: RunStreamEvent): void;
  _raiseError(error: unknown): void;
  _getAbortSignal(): AbortSignal | undefined;
}

/** Starts a run of the SDK again with the decisions. */
export type Resume = (state: RunState<any, any>, signal: AbortSignal | undefined) => Promise<unknown>;

/** Instruments the class of a streamed result. It is not done while anything in it waits, or is to be kept. */
export function instrumentStreamed(result: object): void {
  patchMethod(result, '_done', (done) => {
    return function (this: Streamed) {
      const { resume, exchange } = currentSdkRun() ?? {};
      const waits = resume && !this.cancelled && this.interruptions?.length;
      if (!waits && !exchange) return done.call(this);
      const rest = async () => await (waits ? goOn(this, resume) : exchange!.end());
      rest().then(
        () => done.call(this),
        (error) => this._raiseError(error),
      );
      return undefined;
    };
  });
  patchMethod(result, '_raiseError', (raise) => {
    return function (this: Streamed, error: unknown) {
      const { exchange } = currentSdkRun() ?? {};
      if (!exchange) return raise.call(this, error);
      const told = () => void raise.call(this, error);
      exchange.end().then(told, told);
      return undefined;
    };
  });
}

/** The state is the same object, so that the result has whatever comes of it. */
async function goOn(result: Streamed, resume: Resume): Promise<void> {
  await askApprovals(result);
  const next = (await resume(result.state, result._getAbortSignal())) as Streamed;
  for await (const event of next) result._addItem(event);
  await next.completed;
  result.currentTurn = next.currentTurn;
}
