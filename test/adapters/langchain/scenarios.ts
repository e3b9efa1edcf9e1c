/** Scenarios of LangChain against a scripted provider: outside a run, inside one, and again from its records. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import '../../../adapters/langchain/index.ts';
import {
  type JournalEntry,
  type ProviderRequest,
  type ProviderScript,
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../src/testing/index.ts';
import { liveAndRebuilt, type Outcome, type Scenario } from '../../kit/live-and-rebuilt.ts';

/** What the model says, by the first line of its system prompt; a scenario's own is its name. */
export const scripts: Record<string, ProviderScript> = {};
let provider: ScriptedProvider;

const scenarios: Record<string, Scenario> = {};
let outcomes: Record<string, Outcome>;
const ran: Record<string, number> = {};

beforeAll(async () => {
  provider = await startScriptedProvider((request) => scripts[nameIn(request.instructions)]?.(request));
  process.env['OPENAI_API_KEY'] = 'none';
  process.env['OPENAI_BASE_URL'] = provider.url;
  if (Object.keys(scenarios).length > 0) outcomes = await liveAndRebuilt(scenarios);
});
afterAll(async () => await provider.stop());

interface ScenarioOptions {
  script: ProviderScript;
  /** Gives all that the agent's code saw. */
  body: (name: string) => Promise<unknown>;
  /** How often the provider is asked, over both workers. @default as often as a turn is recorded */
  turns?: number;
  /** What must be true of what it saw live; that it saw the same rebuilt is always asserted. */
  expectThat: (live: any, outcome: Outcome) => void;
  /** Whether LangChain alone, outside any run, gives the very same. @default false */
  asOutside?: boolean;
}

export function scenario(
  name: string,
  { script, body, turns, expectThat, asOutside }: ScenarioOptions,
): void {
  scripts[name] = script;
  scenarios[name] = async () => JSON.parse(JSON.stringify(await body(name)));
  test(name, async () => {
    const outcome = outcomes[name]!;
    expectThat(outcome.live, outcome);
    expect(outcome.rebuilt).toEqual(outcome.live);
    const recorded = outcome.records.filter(({ kind }) => kind === 'turn').length;
    expect(asked(name)).toHaveLength(turns ?? recorded);
    if (asOutside) expect(await scenarios[name]!()).toEqual(outcome.live);
  });
}

/** Requests to the provider with this first line of the system prompt. */
export function asked(prompt: string): JournalEntry[] {
  return provider.requests.filter(({ body }) => {
    const [system] = [body['messages'] ?? body['input']].flat() as { role?: string; content?: unknown }[];
    return system?.role !== 'user' && nameIn(String(textOf(system?.content))) === prompt;
  });
}

function nameIn(prompt: string): string {
  return prompt.split('\n', 1)[0]!;
}

function textOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text).join('') : content;
}

/** Counts, over both workers, how often something ran. */
export function count(what: string): void {
  ran[what] = timesRan(what) + 1;
}

export function timesRan(what: string): number {
  return ran[what] ?? 0;
}

function toolTexts({ messages }: ProviderRequest): string[] {
  return messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
}

/** Calls these tools, then says what they answered. */
export function callThenSay(
  ...toolCalls: { name: string; arguments: Record<string, unknown> | string }[]
): ProviderScript {
  return (request) => {
    const texts = toolTexts(request);
    return texts.length > 0 ? { text: texts.join(' | ') } : { toolCalls };
  };
}

export function errorSeen(error: unknown): Record<string, unknown> {
  const { name, message, code, status } = error as Error & { code?: unknown; status?: unknown };
  return { name, message, code, status };
}
