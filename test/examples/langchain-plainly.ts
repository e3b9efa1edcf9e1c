/** Runs a program of `langchain-js` without Temporal, where an agent is a function, and prints what it comes to. */
import * as agents from './langchain-agents.ts';

// What counts is what it comes to.
console.log = console.warn = () => {};
const [name, ...input] = process.argv.slice(2);
const found = Object.values(agents).find(({ agentName }) => agentName === name)!;
process.stdout.write(await found(input));
