import { dependency as core, others as onCore } from '../langchain/dependencies.ts';

/** The framework that this adapter instruments: optional peer dependencies of the package. */
export const dependency = {
  name: 'deepagents',
  range: '>=1.14.1 <1.15.0',
  /** Versions that the tests of this adapter were run with. */
  tested: ['1.14.1'],
} as const;

/** What it is built on. */
export const others = [core, ...onCore] as const;
