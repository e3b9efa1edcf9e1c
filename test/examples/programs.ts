/** What programs that others wrote are: what they are asked, what the model says to them, and what that comes to. */
import type { ProviderAnswer, ProviderRequest, ProviderScript } from '../../src/testing/index.ts';

export interface Program {
  name: string;
  /** What the program asks on the console, and the answer. @default nothing */
  conversation?: readonly [question: string, answer: string][];
  /** The model, by the agent's instructions. A key that they contain. */
  script: Record<string, ProviderScript>;
  /** Turns and calls of tools of an undisturbed run. */
  turns: number;
  tools?: number;
  /** Tool bodies that are the program's own, and so counted. @default all */
  bodies?: number;
  /** Steps that may be under way beside the one after which the worker is killed. @default 0 */
  beside?: number;
  /** Approvals that are asked of a person in a run, and on the console outside. */
  approvals?: readonly string[];
  /** Takes out of the output what differs from one run of the program to the next. */
  without?: RegExp;
}

export const usage = { inputTokens: 100, outputTokens: 10 };
export const calls = (...toolCalls: [string, Record<string, unknown>][]): ProviderAnswer => ({
  toolCalls: toolCalls.map(([name, args]) => ({ name, arguments: args })),
  usage,
});
export const resultsIn = ({ messages }: ProviderRequest) =>
  messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
/** Calls tools once, and then says what they answered. */
export const callsThenSays =
  (...toolCalls: [string, Record<string, unknown>][]): ProviderScript =>
  (request) => {
    const results = resultsIn(request);
    return results.length > 0 ? { text: results.join('; '), usage } : calls(...toolCalls);
  };
export const json = (value: unknown): ProviderAnswer => ({ text: JSON.stringify(value), usage });

/** The model of a program. */
export function scriptOf({ script }: Program): ProviderScript {
  return async (request) => {
    const [, answer] =
      Object.entries(script).find(([instructions]) => request.instructions.includes(instructions)) ?? [];
    return await answer?.(request);
  };
}
