/** One subject of the benchmarks. */
export interface Measure {
  /** Name on the command line. */
  name: string;
  /** What is measured, in a sentence. */
  about: string;
  run: (options: MeasureOptions) => Promise<void>;
}

interface MeasureOptions {
  /** Fewer rounds and smaller loads: to see that it works, not to quote. */
  quick: boolean;
}
