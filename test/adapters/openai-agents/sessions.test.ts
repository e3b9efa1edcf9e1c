/** Sessions of the SDK: what is kept is read and written by steps, by whichever methods the session has. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  OpenAIConversationsSession,
  OpenAIResponsesCompactionSession,
  run,
  type RunContext,
} from '@openai/agents';
import { agent } from '../../../src/index.ts';
import { FileSession } from '../../fixtures/file-session.ts';
import { client, unique } from '../../kit/temporal.ts';
import { QUICK_START, startWorker } from '../../kit/workers.ts';
import { callThenSay, count, errorSeen, scenario, scripts, timesRan } from './scenarios.ts';

const model = 'gpt-4.1';
const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
const named = (instructions: string) => new Agent({ name: 'A', instructions, model });
/** Counts its calls, and notes what it was called with beside what matters. */
class CountingSession extends FileSession {
  readonly acceptsRunContext = true;
  readonly #name: string;

  constructor(name: string) {
    super(join(folder, name));
    this.#name = name;
  }

  override async getItems(limit?: number, context?: RunContext<any>): Promise<AgentInputItem[]> {
    if (context) count(`${this.#name} read for ${context.context.user}`);
    return await super.getItems(limit);
  }

  override async addItems(items: AgentInputItem[], context?: RunContext<any>): Promise<void> {
    if (context) count(`${this.#name} added for ${context.context.user}`);
    await super.addItems(items);
  }
}

scenario('a session that is used by two runs, and takes the context', {
  script: ({ messages }) => ({ text: `${messages.length}` }),
  body: async (name) => {
    const session = new CountingSession(name);
    const keeping = named(name);
    const options = { session, context: { user: 'me' } };
    const one = await run(keeping, 'one', options);
    const two = await run(keeping, 'two', { ...options, stream: true });
    await two.completed;
    return [one.finalOutput, two.finalOutput];
  },
  turns: 2,
  expectThat: (live, { records }) => {
    const name = 'a session that is used by two runs, and takes the context';
    expect(live).toEqual(['1', '3']);
    expect(timesRan(`${name} read for me`)).toBe(2);
    const steps = records.map((record) => record.name);
    expect(steps.filter((step) => step === 'session.getItems')).toHaveLength(2);
    expect(timesRan(`${name} added for me`)).toBe(steps.filter((step) => step === 'session.addItems').length);
  },
});

class NamedSession extends FileSession {
  readonly sessionId: string;

  constructor(name: string) {
    super(join(folder, name));
    this.sessionId = name;
  }
}
let started = 0;
scenario('two sessions side by side, whichever is asked first', {
  script: ({ messages }) => ({ text: messages.map(({ text }) => text).join() }),
  body: async (name) => {
    const last = started++ % 2;
    const sessions = ['left', 'right'].map((side) => new NamedSession(`${name} ${side}`));
    const keeping = named(name);
    const both = async (says: string) =>
      await Promise.all(
        sessions.map(async (session, i) => {
          if (i === last) await delay(20);
          return (await run(keeping, `${says} ${i}`, { session })).finalOutput;
        }),
      );
    return [await both('hi'), await both('again')];
  },
  turns: 4,
  expectThat: (live) =>
    expect(live).toEqual([
      ['hi 0', 'hi 1'],
      ['hi 0,hi 0,again 0', 'hi 1,hi 1,again 1'],
    ]),
});

scenario("a session's failure, tried again and given as it is", {
  script: () => ({ text: 'never' }),
  body: async (name) => {
    class Broken extends FileSession {
      override async getItems(): Promise<AgentInputItem[]> {
        count(name);
        throw new RangeError('no disk');
      }
    }
    return await run(named(name), 'Hi', { session: new Broken(join(folder, name)) }).catch(errorSeen);
  },
  turns: 0,
  expectThat: (live) => {
    expect(live).toMatchObject({ name: 'RangeError', message: 'no disk' });
    expect(timesRan("a session's failure, tried again and given as it is")).toBe(3);
  },
});

/** A provider's conversations, as the client of OpenAI has them. */
function conversations() {
  const items: object[] = [];
  let read = 0;
  const openai = {
    conversations: {
      items: {
        list: async function* () {
          read++;
          yield* items;
        },
        create: async (_id: string, { items: more }: { items: { content: unknown }[] }) => {
          for (const { content, ...item } of more) {
            const text = [{ type: 'input_text', text: content }];
            const id = `m${items.length}`;
            items.push({
              type: 'message',
              id,
              ...item,
              content: typeof content === 'string' ? text : content,
            });
          }
        },
      },
    },
  };
  return { openai, items, reads: () => read };
}
const kept = conversations();
scenario('a conversation that the provider keeps', {
  script: ({ messages }) => ({ text: messages.map(({ text }) => text).join() }),
  body: async (name) => {
    const session = new OpenAIConversationsSession({
      conversationId: 'conv_1',
      client: kept.openai as never,
    });
    const says = [];
    for (const what of ['one', 'two']) says.push((await run(named(name), what, { session })).finalOutput);
    return says;
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toEqual(['one', 'one,one,two']);
    expect(kept.items).toHaveLength(4);
    expect(kept.reads()).toBe(2);
    expect(records.map((record) => record.name)).toContain('session.addItems');
  },
});

scenario('a session that compacts itself', {
  script: ({ messages }) => ({ text: `${messages.length}` }),
  body: async (name) => {
    const compact = async () => {
      count('compacts');
      return {
        output: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'all so far' }] }],
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      };
    };
    const session = new OpenAIResponsesCompactionSession({
      client: { responses: { compact } } as never,
      model,
      underlyingSession: new FileSession(join(folder, name)),
      compactionMode: 'input',
      shouldTriggerCompaction: ({ sessionItems }) => sessionItems.length > 3,
    });
    const says = [];
    let tokens = 0;
    for (const what of ['one', 'two', 'three']) {
      const { finalOutput, state } = await run(named(name), what, { session });
      says.push(finalOutput);
      tokens += state.usage.totalTokens;
    }
    return { says, tokens };
  },
  turns: 3,
  expectThat: (live, { records }) => {
    expect(live.says).toEqual(['1', '3', '2']);
    expect(timesRan('compacts')).toBe(1);
    const compacting = records.filter(({ name }) => name === 'session.runCompaction');
    expect(compacting.map(({ value }) => (value as { usage?: object } | null)?.usage)).toEqual([
      undefined,
      expect.objectContaining({ totalTokens: 10 }),
      undefined,
    ]);
  },
});

scenario('a session that an agent as a tool has', {
  script: callThenSay({ name: 'clerk', arguments: { input: 'note it' } }),
  body: async (name) => {
    const session = new FileSession(join(folder, name));
    scripts['clerk with a session'] = () => ({ text: 'noted' });
    const clerk = new Agent({ name: 'Clerk', instructions: 'clerk with a session', model });
    const tools = [clerk.asTool({ toolName: 'clerk', toolDescription: 'Notes.', runOptions: { session } })];
    const { finalOutput } = await run(new Agent({ name: 'A', instructions: name, model, tools }), 'Go');
    return finalOutput;
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toBe('noted');
    expect(records.map(({ name }) => name)).toEqual([
      model,
      'session.getItems',
      model,
      'session.addItems',
      model,
    ]);
  },
});

scenario('sessions that a restart would lose are refused', {
  script: () => ({ text: 'never' }),
  body: async (name) => {
    const openai = { client: {} as never };
    const sessions = [
      new OpenAIConversationsSession(openai),
      new OpenAIResponsesCompactionSession({ ...openai, model }),
    ];
    return await Promise.all(
      sessions.map(async (session) => await run(named(name), 'Hi', { session }).catch(errorSeen)),
    );
  },
  turns: 0,
  expectThat: (live) =>
    expect(live).toMatchObject([
      { name: 'UnsupportedError', message: expect.stringMatching(/begin another conversation/) },
      { name: 'UnsupportedError', message: expect.stringMatching(/underlyingSession/) },
    ]),
});

test('a MemorySession that a later run also finds is refused', async () => {
  const session = new MemorySession();
  scripts['shared'] = () => ({ text: 'said' });
  const sharing = agent('sharing', async () => (await run(named('shared'), 'Hi', { session })).finalOutput);
  const taskQueue = unique('sharing');
  const worker = await startWorker({ taskQueue, plugin: { agents: [sharing] } });
  const { workflow } = await client();
  const start = async () =>
    await workflow.execute('sharing', { taskQueue, workflowId: unique('sharing'), ...QUICK_START });
  expect(await start()).toBe('said');
  await expect(start()).rejects.toMatchObject({
    cause: { type: 'UnsupportedError', message: expect.stringMatching(/Make it in the agent function/) },
  });
  await worker.stop();
});
