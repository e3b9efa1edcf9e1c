/** The framework that this adapter instruments: an optional peer dependency of the package. */
export const dependency = {
  name: '@openai/agents',
  range: '>=0.11.8 <0.21.0',
  /** Versions that the tests of this adapter were run with. */
  tested: ['0.11.8', '0.16.1', '0.20.0'],
} as const;
