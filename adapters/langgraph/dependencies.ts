/** The framework of this entry point; what it is built on is instrumented by `../langchain`. */
export const dependency = {
  name: '@langchain/langgraph',
  range: '>=1.7.3 <1.8.0',
  /** Versions that the tests of this adapter were run with. */
  tested: ['1.7.3'],
} as const;
