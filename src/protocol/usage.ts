import type { BudgetState } from './budget.ts';

/** Tokens of a model turn, the same kinds over all frameworks. */
export interface Usage {
  /** All input tokens, those read from and written to the provider's cache included. */
  input: number;
  /** All output tokens, reasoning included. */
  output: number;
  /** Of `input`: read from the provider's prompt cache. */
  cacheRead?: number;
  /** Of `input`: written to the provider's prompt cache. */
  cacheWrite?: number;
  /** Of `input`: of sound. */
  inputAudio?: number;
  /** Of `input`: of images. */
  inputImage?: number;
  /** Of `output`: spent on reasoning. */
  reasoning?: number;
  /** Of `output`: of sound. */
  outputAudio?: number;
}

const KINDS = ['cacheRead', 'cacheWrite', 'inputAudio', 'inputImage', 'reasoning', 'outputAudio'] as const;

/** The sum of two usages; a kind that neither has stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { input: a.input + b.input, output: a.output + b.output };
  for (const kind of KINDS) {
    if (a[kind] !== undefined || b[kind] !== undefined) sum[kind] = (a[kind] ?? 0) + (b[kind] ?? 0);
  }
  return sum;
}

/** What model turns took. */
export interface Spent {
  turns: number;
  usage: Usage;
  /** US dollars, of the turns whose price is known. */
  usd: number;
  /** The models of turns whose price is not known. */
  unpriced: string[];
}

/** What a run has spent, and what it has not spent again. */
export interface RunUsage {
  /** Asked and answered in this run, over all histories of its chain. */
  own: Spent;
  /** Of the child agents that are over, and theirs. */
  children: Spent;
  /**
   * Of attempts that vanished with their worker, or were cut off without an answer (a timeout, a lost connection): the
   * provider may have charged them. Nobody knows; they are counted to be as large as those that were answered in their place.
   */
  lost: Spent;
  /**
   * Turns that loops which were built again were given from the records; how many of them were, and how many milliseconds
   * they needed, all together, to be where the run was.
   */
  replayed: Spent & { restarts: number; ms: number };
  /** Turns that the run which this one resumes or forks had paid. */
  before: Spent;
  /** Tool calls that were answered from the cache, and how long they had taken, in milliseconds. */
  cached: { calls: number; durationMs: number };
  /** How its budget stands, if it has one. */
  budget?: BudgetState;
  /** Where the prices are from; absent: nothing was priced. */
  priceTable?: string;
}
