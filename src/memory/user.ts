/** Who uses memory, and what each use of it says. */
import { DeclarationError } from '../errors/index.ts';
import type { Attempt, Draft } from './versions.ts';

const MAX_SAID_CHARS = 1_000;

/** One use of the store: what a run records as a step. */
export interface Use {
  /** Which, such as `write`. */
  what: string;
  path?: string;
  /** What affects its answer, beside the path. */
  request?: unknown;
}

/** Who uses the store, and how often a use may be tried. */
export interface User {
  /** Who writes, if the write does not say. */
  actor?: string | undefined;
  run?: { workflowId: string; runId: string };
  /** Whether a step's version is of an attempt before this one, which was further on: not to be seen yet. */
  isLater?: ((step: string) => boolean) | undefined;
  /**
   * Whether an earlier loop of the run had the answer to this use, in that scope, and this one may go on after it: what it
   * did before that is not done again.
   */
  goOnAfter?: ((use: Use, scope: string) => boolean) | undefined;
  use<T>(use: Use, act: (attempt: Attempt, step?: string) => Promise<T>): Promise<T>;
}

/** Which step of which run a write is of, if it is of one. */
export function ofStep(run: User['run'], step: string | undefined): Pick<Draft, 'run'> {
  return run && step !== undefined ? { run: { ...run, step } } : {};
}

/** What a write must say, checked. @throws DeclarationError */
export function said(cannot: string, field: 'actor' | 'reason', text: unknown): string {
  if (typeof text !== 'string' || text === '')
    throw new DeclarationError(`${cannot}: it must say its "${field}", which goes into the history.`);
  if (text.length > MAX_SAID_CHARS) {
    throw new DeclarationError(
      `${cannot}: its "${field}" has ${text.length} characters; the limit is ${MAX_SAID_CHARS}.`,
    );
  }
  return text;
}
