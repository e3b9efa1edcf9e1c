/** The framework that this adapter instruments: optional peer dependencies of the package. */
export const dependency = {
  name: '@langchain/core',
  range: '>=1.4.0 <1.5.0',
  /** Versions that the tests of this adapter were run with. */
  tested: ['1.4.0'],
} as const;

/** What is built on it. */
export const others = [
  { name: '@langchain/langgraph', range: '>=1.7.3 <1.8.0', tested: ['1.7.3'] },
  { name: 'langchain', range: '>=1.5.14 <1.6.0', tested: ['1.5.14'] },
] as const;
