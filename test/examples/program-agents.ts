/** Each program of `openai-agents-js` as an agent: its input are the answers to what the program asks on the console. */
import { type Agent, agent } from '../../src/index.ts';
import '../../adapters/openai-agents/index.ts';
import { onStage } from './stage.ts';

let runs = 0;

/** A program is started as `node` would: its module is loaded, which calls its `main`. */
function program(name: string): Agent<string[], string> {
  return agent(name, async (answers: string[]) => {
    return await onStage(answers, async () => {
      const url = new URL(`./openai-agents-js/${name}.ts?run=${++runs}`, import.meta.url).href;
      const { finished } = (await import(url)) as { finished: Promise<void> };
      await finished;
    });
  });
}

export const agentsAsTools = program('agents-as-tools');
export const deterministic = program('deterministic');
export const humanInTheLoop = program('human-in-the-loop');
export const humanInTheLoopStream = program('human-in-the-loop-stream');
export const inputGuardrails = program('input-guardrails');
export const lifecycle = program('lifecycle-example');
export const judge = program('llm-as-a-judge');
export const parallelization = program('parallelization');
export const routing = program('routing');
