/** What backends read, write and execute: recorded, also where middleware asks it, and not where it is the graph's state. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { InMemoryStore } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  BaseSandbox,
  CompositeBackend,
  createDeepAgent,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
  StoreBackend,
} from 'deepagents';
import { createAgent, tool as ownTool } from 'langchain';
import { z } from 'zod';
import { durableBackend, runAgent } from '../../../adapters/deepagents/index.ts';
import type { ProviderRequest } from '../../../src/testing/index.ts';
import type { Outcome } from '../../kit/live-and-rebuilt.ts';
import { callThenSay, count, scenario, timesRan } from '../langchain/scenarios.ts';

const model = 'openai:gpt-4.1-mini';
const chat = () => new ChatOpenAI({ model: 'gpt-4.1-mini' });
const folder = () => mkdtempSync(join(tmpdir(), 'backend-'));
const virtual = (rootDir: string) => new FilesystemBackend({ rootDir, virtualMode: true });
const stepsOf = ({ records }: Outcome) => records.map(({ kind, name }) => (kind === 'turn' ? kind : name));

/** Calls these tools one after the other, then says what the last one answered. */
const oneByOne =
  (...calls: { name: string; arguments: Record<string, unknown> }[]) =>
  ({ messages }: ProviderRequest) => {
    const results = messages.flatMap(({ toolResults }) => toolResults);
    const next = calls[results.length];
    return next ? { toolCalls: [next] } : { text: results.at(-1)!.text };
  };

const fileTools = oneByOne(
  { name: 'write_file', arguments: { file_path: '/a.txt', content: 'one\ntwo' } },
  { name: 'edit_file', arguments: { file_path: '/a.txt', old_string: 'two', new_string: 'three' } },
  { name: 'grep', arguments: { pattern: 'three', path: '/' } },
  { name: 'glob', arguments: { pattern: '*.txt', path: '/' } },
  { name: 'ls', arguments: { path: '/' } },
  { name: 'read_file', arguments: { file_path: '/a.txt' } },
);

scenario('files in the state', {
  script: fileTools,
  body: async (systemPrompt) => {
    const given = createDeepAgent({ model: chat(), systemPrompt, backend: new StateBackend() });
    const { messages, files } = (await given.invoke({ messages: [{ role: 'user', content: 'go' }] })) as {
      messages: { text: string }[];
      files: Record<string, { content: string }>;
    };
    return { said: messages.map(({ text }) => text), text: files['/a.txt']!.content };
  },
  turns: 7,
  asOutside: false,
  expectThat: ({ text }, outcome) => {
    expect(text).toBe('one\nthree');
    expect(stepsOf(outcome)).toEqual(Array<string>(7).fill('turn'));
  },
});

const onDisk = folder();
scenario('files on disk', {
  script: fileTools,
  body: async (systemPrompt) => await runAgent('go', { model, systemPrompt, backend: virtual(onDisk) }),
  turns: 7,
  expectThat: (said, outcome) => {
    expect(said).toContain('three');
    expect(readFileSync(join(onDisk, 'a.txt'), 'utf8')).toBe('one\nthree');
    const methods = ['write', 'edit', 'grep', 'glob', 'ls', 'read'];
    expect(stepsOf(outcome)).toEqual([
      'turn',
      ...methods.flatMap((method) => [`FilesystemBackend.${method}`, 'turn']),
    ]);
  },
});

const remembered = folder();
writeFileSync(join(remembered, 'AGENTS.md'), 'The old fact.');
scenario('memory that the run itself changes', {
  script: oneByOne({
    name: 'edit_file',
    arguments: { file_path: '/memories/AGENTS.md', old_string: 'old', new_string: 'new' },
  }),
  body: async (systemPrompt) =>
    await runAgent('go', {
      model,
      // The memory is put behind it.
      systemPrompt: `${systemPrompt}\n`,
      memory: ['/memories/AGENTS.md'],
      backend: new CompositeBackend(new StateBackend(), { '/memories/': virtual(remembered) }),
    }),
  // The prompt of each turn holds what was read at the start.
  turns: 2,
  expectThat: (said, outcome) => {
    expect(said).toEqual(expect.stringContaining('Successfully replaced 1'));
    expect(readFileSync(join(remembered, 'AGENTS.md'), 'utf8')).toBe('The new fact.');
    expect(stepsOf(outcome)).toEqual([
      'FilesystemBackend.downloadFiles',
      'turn',
      'FilesystemBackend.edit',
      'turn',
    ]);
  },
});

const taught = folder();
mkdirSync(join(taught, 'refunds'));
writeFileSync(
  join(taught, 'refunds', 'SKILL.md'),
  '---\nname: refunds\ndescription: How to refund.\n---\nAsk first.',
);
scenario('skills', {
  script: ({ instructions }) => ({ text: String(instructions.includes('How to refund.')) }),
  body: async (systemPrompt) =>
    await runAgent('go', {
      model,
      systemPrompt: `${systemPrompt}\n`,
      skills: ['/skills/'],
      backend: new CompositeBackend(new StateBackend(), { '/skills/': virtual(taught) }),
    }),
  turns: 1,
  expectThat: (said, outcome) => {
    expect(said).toBe('true');
    expect(stepsOf(outcome)).toEqual(['FilesystemBackend.ls', 'FilesystemBackend.downloadFiles', 'turn']);
  },
});

scenario("a tool's error, which Deep Agents tells nobody", {
  script: callThenSay({ name: 'broken', arguments: {} }),
  body: async (systemPrompt) => {
    const broken = ownTool(
      () => {
        throw new Error('it broke');
      },
      { name: 'broken', description: 'Breaks.', schema: z.object({}) },
    );
    return await runAgent('go', { model, systemPrompt, tools: [broken] }).catch(
      ({ message }: Error) => message,
    );
  },
  // Live, and once more outside.
  turns: 1,
  expectThat: (said) => expect(said).toContain('it broke'),
});

const store = new InMemoryStore();
scenario('files in a store', {
  script: oneByOne(
    { name: 'write_file', arguments: { file_path: '/kept/a.txt', content: 'kept' } },
    { name: 'delete', arguments: { file_path: '/kept/a.txt' } },
  ),
  body: async (systemPrompt) => {
    const backend = new CompositeBackend(new StateBackend(), {
      '/kept/': new StoreBackend({ namespace: ['ann'], store }),
    });
    return await runAgent('go', { model, systemPrompt, backend });
  },
  turns: 3,
  expectThat: (said, outcome) => {
    expect(said).toBe('Deleted /kept/a.txt');
    expect(stepsOf(outcome)).toEqual(['turn', 'StoreBackend.write', 'turn', 'StoreBackend.delete', 'turn']);
  },
});

const shell = folder();
scenario('a shell', {
  script: oneByOne({ name: 'execute', arguments: { command: 'echo once >> log; wc -l < log; echo $$' } }),
  body: async (systemPrompt) => {
    const backend = new LocalShellBackend({ rootDir: shell, virtualMode: true, inheritEnv: true });
    const given = createDeepAgent({ model: chat(), systemPrompt, backend });
    const { messages } = await given.invoke({ messages: [{ role: 'user', content: 'go' }] });
    return messages.at(-1)!.text;
  },
  turns: 2,
  expectThat: (said, outcome) => {
    expect(said).toMatch(/^1\n\d+\n\n\[Command succeeded/);
    expect(readFileSync(join(shell, 'log'), 'utf8')).toBe('once\n');
    expect(stepsOf(outcome)).toEqual(['turn', 'LocalShellBackend.execute', 'turn']);
  },
});

/** As providers of sandboxes make theirs. */
class Sandbox extends BaseSandbox {
  readonly id = 'sandbox-1';
  async execute(command: string) {
    count(`sandbox ${command}`);
    return { output: `ran ${command}`, exitCode: 0, truncated: false };
  }
  async uploadFiles(files: [string, Uint8Array][]) {
    return files.map(([path]) => ({ path, error: null }));
  }
  async downloadFiles(paths: string[]) {
    count('downloads');
    return paths.map((path) => ({ path, content: new Uint8Array([0, 255, 10]), error: null }));
  }
}

scenario('a sandbox of a class of its own', {
  script: oneByOne({ name: 'execute', arguments: { command: 'deploy' } }),
  body: async (systemPrompt) => {
    const backend = new Sandbox();
    const given = createDeepAgent({ model: chat(), systemPrompt, backend });
    const { messages } = await given.invoke({ messages: [{ role: 'user', content: 'go' }] });
    const [file] = await backend.downloadFiles(['/picture.png']);
    return {
      said: messages.at(-1)!.text,
      bytes: [...file!.content],
      isBytes: file!.content instanceof Uint8Array,
      own: [backend instanceof Sandbox, Object.keys(backend)],
    };
  },
  turns: 2,
  asOutside: false,
  expectThat: (live, outcome) => {
    expect(live).toEqual({
      said: 'ran deploy\n[Command succeeded with exit code 0]',
      bytes: [0, 255, 10],
      isBytes: true,
      own: [true, ['id']],
    });
    expect(stepsOf(outcome)).toEqual(['turn', 'Sandbox.execute', 'turn', 'Sandbox.downloadFiles']);
    expect([timesRan('sandbox deploy'), timesRan('downloads')]).toEqual([1, 1]);
  },
});

/** It has no class of Deep Agents above it. */
class Notes {
  readonly files: Record<string, string> = { '/a.txt': 'noted' };
  ls() {
    count('notes listed');
    return { files: Object.keys(this.files).map((path) => ({ path })) };
  }
  read(path: string) {
    count('notes read');
    return { content: this.files[path] ?? '', mimeType: 'text/plain' };
  }
  readRaw = () => ({ error: 'none' });
  grep = () => ({ matches: [] });
  glob = () => ({ files: [] });
  write = (path: string) => ({ path, filesUpdate: null });
  edit = (path: string) => ({ path, filesUpdate: null, occurrences: 1 });
}
const readNote = oneByOne({ name: 'read_file', arguments: { file_path: '/a.txt' } });

scenario('a backend from scratch, which runAgent is given', {
  script: readNote,
  body: async (systemPrompt) =>
    await runAgent('go', { model, systemPrompt, backend: (() => new Notes()) as never }),
  turns: 2,
  expectThat: (said, outcome) => {
    expect(said).toContain('noted');
    expect(stepsOf(outcome)).toEqual(['turn', 'Notes.read', 'turn']);
    expect(timesRan('notes read')).toBe(1);
  },
});

scenario('a backend from scratch that nothing is known of', {
  script: readNote,
  body: async (systemPrompt) => {
    class Unknown extends Notes {
      override ls = () => ({ files: [] });
      override read = (path: string) => ({ content: this.files[path] ?? '', mimeType: 'text/plain' });
    }
    const asked = async (backend: unknown) =>
      await createDeepAgent({ model: chat(), systemPrompt, backend: backend as never })
        .invoke({ messages: [{ role: 'user', content: 'go' }] })
        .then(
          ({ messages }) => messages.at(-1)!.text,
          ({ name, message }: Error) => `${name}: ${message}`,
        );
    return [
      await asked(new Unknown()),
      await asked(new CompositeBackend(new StateBackend(), { '/notes/': new Unknown() })),
    ];
  },
  turns: 1,
  expectThat: (live) => {
    for (const said of live) expect(said).toContain('durableBackend(backend)');
  },
});

scenario('a command that the model runs though it has no shell', {
  script: oneByOne({ name: 'execute', arguments: { command: 'deploy' } }),
  body: async (systemPrompt) => await runAgent('go', { model, systemPrompt }),
  asOutside: true,
  expectThat: (said) => expect(said).toContain('Error: Execution not available.'),
});

scenario('tools that are only named as those of Deep Agents', {
  script: callThenSay({ name: 'grep', arguments: { pattern: 'x' } }),
  body: async (systemPrompt) => {
    const grep = ownTool(
      ({ pattern }) => {
        count('own grep');
        return `own ${pattern}`;
      },
      { name: 'grep', description: 'Searches.', schema: z.object({ pattern: z.string() }) },
    );
    const { messages } = await createAgent({ model: chat(), tools: [grep], systemPrompt }).invoke({
      messages: [{ role: 'user', content: 'go' }],
    });
    return messages.at(-1)!.text;
  },
  turns: 2,
  expectThat: (said, outcome) => {
    expect(said).toBe('own x');
    expect(stepsOf(outcome)).toEqual(['turn', 'grep', 'turn']);
    expect(timesRan('own grep')).toBe(1);
  },
});

test('a backend stays the object it is', () => {
  const own = new Notes();
  expect(durableBackend(own)).toBe(own);
  expect(own).toBeInstanceOf(Notes);
  expect(own.read('/a.txt')).toEqual({ content: 'noted', mimeType: 'text/plain' });
  expect(() => durableBackend(Object.freeze(new Notes()))).toThrow('Do not freeze it');
});
