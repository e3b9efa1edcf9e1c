/** What code inside a run asks for: a step before it has a key, what may answer it in this process, and the step with one. */
import { digest } from './fingerprint.ts';
import type { CachedFrom, EditedArguments, Step } from '../protocol/step.ts';
import type { Usage } from '../protocol/usage.ts';

/** What a closure of the loop answers. */
export interface CallAnswer {
  value?: unknown;
  usage?: Usage;
  cached?: CachedFrom;
  /** Attempts of a turn before this one to which the provider gave no answer, not even an error: it may have charged them. */
  lost?: number;
}

/** Runs in the host, under an activity; the signal fires when nobody wants the answer. */
export type Closure = (signal: AbortSignal, edited?: { arguments: unknown }) => Promise<CallAnswer>;

/** A step as it is asked, before it has a key. */
export interface StepRequest extends Pick<
  Step,
  'kind' | 'name' | 'input' | 'approval' | 'heartbeats' | 'readOnly' | 'suspends' | 'options'
> {
  /** What affects the answer; fingerprinted, never sent. */
  request: unknown;
  /** Of a turn: how many tokens the provider is told to answer at most. */
  maxOutputTokens?: number | undefined;
  /** Of a turn: what the model is asked, in a few words, for whoever reads the run's report. Plain text, cut at 120 characters. */
  about?: string | undefined;
  /**
   * Answers it in this process; without it, an activity, child, timer or person does. `again`: it may have run before,
   * under an earlier loop too, and nobody heard how far it came. `idempotencyKey`: the same for every attempt of the step,
   * of the chain's first run id and the step's key. `edited`: the arguments a person gave in place of those asked.
   */
  closure?: (
    signal: AbortSignal,
    again: boolean,
    idempotencyKey: string,
    edited?: { arguments: unknown },
  ) => Promise<CallAnswer>;
  /** Hears, before the answer, that a person changed the arguments. */
  onEdited?: (edited: EditedArguments) => void;
}

/** The step that is asked for under a key; its number and what is said of a turn come when it is handed out. */
export function stepFor(request: StepRequest, key: string, shielded: boolean): Step {
  const { kind, name, input, closure, approval, heartbeats, readOnly, suspends, options } = request;
  return {
    no: 0,
    key,
    kind,
    name,
    ...(input !== undefined && { input }),
    ...(closure && { local: true }),
    ...(heartbeats && { heartbeats }),
    ...(approval && {
      approval: { ...approval, ...(input !== undefined && { argumentsHash: digest(input) }) },
    }),
    ...(readOnly && { readOnly }),
    ...(suspends && { suspends }),
    ...(shielded && { shielded: true }),
    ...(options && Object.keys(options).length > 0 && { options }),
  };
}
