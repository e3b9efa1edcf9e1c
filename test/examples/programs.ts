/** The programs of `openai-agents-js`: what is typed into them, what the model says to them, and what that comes to. */
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
  /** Whether it prints streams while it goes on: what comes first is then up to chance. @default false */
  streams?: boolean;
  /** Takes out of the output what differs from one run of the program to the next. */
  without?: RegExp;
}

export const usage = { inputTokens: 100, outputTokens: 10 };
const says =
  (text: string): ProviderScript =>
  () => ({ text, usage });
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
const lastSaid = ({ messages }: ProviderRequest) => messages.findLast(({ role }) => role === 'user')!.text;
export const json = (value: unknown): ProviderAnswer => ({ text: JSON.stringify(value), usage });

const weather: Pick<Program, 'script' | 'turns' | 'tools' | 'beside'> = {
  script: {
    'to answer weather questions': callsThenSays(
      ['get_temperature', { city: 'San Francisco' }],
      ['get_temperature', { city: 'Oakland' }],
      ['ask_weather_agent', { input: 'Conditions in San Francisco and Oakland?' }],
    ),
    'Report conditions only': callsThenSays(
      ['get_weather', { city: 'San Francisco' }],
      ['get_weather', { city: 'Oakland' }],
    ),
  },
  turns: 4,
  tools: 4,
  beside: 2,
};

export const programs: readonly Program[] = [
  {
    name: 'agents-as-tools',
    conversation: [['which languages? ', 'Hello to Spanish and French']],
    script: {
      'You are a translation agent': callsThenSays(
        ['translate_to_spanish', { input: 'Hello' }],
        ['translate_to_french', { input: 'Hello' }],
      ),
      'to Spanish': says('Hola'),
      'to French': says('Bonjour'),
      'concatenate them': (request) => ({ text: `Together:\n${lastSaid(request)}`, usage }),
    },
    turns: 5,
    beside: 1,
  },
  {
    name: 'deterministic',
    conversation: [['What kind of story do you want? ', 'One about robots']],
    script: {
      'story outline based': says('A robot learns to paint.'),
      'judge the quality': () => json({ good_quality: true, is_scifi: true }),
      'Write a short story': (request) => ({ text: `Once upon a time. ${lastSaid(request)}`, usage }),
    },
    turns: 3,
  },
  { name: 'human-in-the-loop', ...weather, approvals: ['get_temperature-1', 'ask_weather_agent-1'] },
  {
    name: 'human-in-the-loop-stream',
    ...weather,
    approvals: ['get_temperature-1', 'ask_weather_agent-1'],
    // Said when it asks by itself.
    without: /Human-in-the-loop: approval required for the following tool calls:\n/g,
    streams: true,
  },
  {
    name: 'input-guardrails',
    script: {
      'math homework': (request) => json({ isMathHomework: lastSaid(request).includes('solve for x') }),
      'customer support agent': (request) => ({ text: `You asked: ${lastSaid(request)}`, usage }),
    },
    turns: 4,
    beside: 1,
  },
  {
    name: 'lifecycle-example',
    script: {
      'Generate a random number': (request) => {
        return resultsIn(request).length === 0
          ? calls(['random_number', { max: 1_000_000 }])
          : calls(['transfer_to_Multiply_Agent', {}]);
      },
      'Multiply the number by 2': (request) => {
        const [random, , doubled] = resultsIn(request);
        return doubled === undefined
          ? calls(['multiply_by_two', { x: Number(random) }])
          : json({ number: Number(doubled) });
      },
    },
    turns: 4,
    tools: 2,
    without: /(?<=result "|"x":|"number":|number: |number\\":)\d+/g,
  },
  {
    name: 'llm-as-a-judge',
    conversation: [['would you like to hear? ', 'One about robots']],
    script: {
      'very short story outline': (request) => ({
        text: `Outline ${request.messages.filter(({ role }) => role === 'user').length}`,
        usage,
      }),
      'You evaluate a story outline': (request) => {
        const rounds = request.messages.filter(({ role }) => role === 'user').length;
        return json({ feedback: `More of ${rounds}`, score: rounds < 3 ? 'needs_improvement' : 'pass' });
      },
    },
    turns: 6,
  },
  {
    name: 'parallelization',
    conversation: [["we'll translate it to Spanish.\n\n", 'Good morning']],
    script: {
      'You translate': says('Buenos días'),
      'pick the best': (request) => ({ text: `The first of: ${lastSaid(request)}`, usage }),
    },
    turns: 4,
    beside: 2,
  },
  {
    name: 'routing',
    conversation: [
      ['How can I help?\n', 'Bonjour'],
      ['Enter a message:\n', 'Et demain ?'],
      ['Enter a message:\n', 'exit'],
    ],
    script: {
      'Handoff to the appropriate agent': () => calls(['transfer_to_french_agent', {}]),
      'You only speak French': (request) => ({ text: `Vous dites « ${lastSaid(request)} ».`, usage }),
    },
    turns: 3,
    streams: true,
  },
];

/** The model of a program. */
export function scriptOf({ script }: Program): ProviderScript {
  return async (request) => {
    const [, answer] =
      Object.entries(script).find(([instructions]) => request.instructions.includes(instructions)) ?? [];
    return await answer?.(request);
  };
}
