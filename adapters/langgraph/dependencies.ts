import { others } from '../langchain/dependencies.ts';

/** The framework of this entry point; what it is built on is instrumented by `../langchain`. */
export const [dependency] = others;
