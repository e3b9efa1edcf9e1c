/** Tokens of a model turn, the same five kinds over all frameworks. */
export interface Usage {
  /** All input tokens, those read from and written to the provider's cache included. */
  input: number;
  /** All output tokens, reasoning included. */
  output: number;
  /** Of `input`: read from the provider's prompt cache. */
  cacheRead?: number;
  /** Of `input`: written to the provider's prompt cache. */
  cacheWrite?: number;
  /** Of `output`: spent on reasoning. */
  reasoning?: number;
}

/** The sum of two usages; a kind that neither has stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { input: a.input + b.input, output: a.output + b.output };
  for (const kind of ['cacheRead', 'cacheWrite', 'reasoning'] as const) {
    if (a[kind] !== undefined || b[kind] !== undefined) sum[kind] = (a[kind] ?? 0) + (b[kind] ?? 0);
  }
  return sum;
}
