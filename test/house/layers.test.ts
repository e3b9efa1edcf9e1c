import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** One import of a file of ours: a path from the root, or the name of a package. */
interface Import {
  from: string;
  of: string;
  typesOnly: boolean;
}

/** A folder, and what its files may import. The first rule that fits a file counts. */
interface Layer {
  files: RegExp;
  may: (use: Import) => boolean;
}

const within = (...folders: string[]) => new RegExp(`^(${folders.join('|')})/`);
const isOurs = (of: string) => /^(src|workflows|activities|adapters|examples|test|bench|scripts)\//.test(of);
const isNode = (of: string) => of.startsWith('node:');
const isPackage = (of: string, ...names: string[]) =>
  names.some((name) => of === name || of.startsWith(`${name}/`));
const isWorker = (of: string) =>
  isPackage(of, '@temporalio/worker', '@temporalio/testing', '@temporalio/core-bridge');
const isInner = (of: string) => within('src').test(of) && !within('src/worker', 'src/testing').test(of);

const LAYERS: Layer[] = [
  {
    files: within('src/protocol'),
    may: ({ of, typesOnly }) => within('src/protocol').test(of) || (typesOnly && of === '@temporalio/common'),
  },
  {
    files: within('src/records'),
    may: ({ of }) => within('src/protocol', 'src/records').test(of) || isPackage(of, '@cfworker/json-schema'),
  },
  {
    files: within('workflows'),
    may: ({ of }) =>
      within('workflows', 'src/protocol', 'src/records').test(of) ||
      isPackage(of, '@temporalio/workflow', '@temporalio/common'),
  },
  {
    files: within('activities'),
    may: ({ of }) =>
      within('activities').test(of) ||
      isInner(of) ||
      isPackage(of, '@temporalio/activity', '@temporalio/common'),
  },
  {
    files: within('src/worker'),
    may: ({ of }) => within('src', 'activities').test(of) || (!isOurs(of) && !isFramework(of)),
  },
  {
    files: within('src/testing'),
    may: ({ of }) => within('src').test(of) || (!isOurs(of) && !isFramework(of)),
  },
  {
    files: within('src/servers'),
    may: ({ of }) => isInner(of) || isNode(of) || isPackage(of, '@temporalio/client', '@temporalio/testing'),
  },
  {
    files: /^src\/report\/(?!collect|why-unread)/,
    may: ({ of, typesOnly }) =>
      (within('src/protocol', 'src/records', 'src/report').test(of) &&
        (!of.endsWith('/collect.ts') || typesOnly)) ||
      isPackage(of, 'preact', 'preact-render-to-string'),
  },
  {
    files: within('src/cli'),
    may: ({ of }) =>
      within('src/cli', 'src/report', 'src/protocol').test(of) ||
      isNode(of) ||
      isPackage(of, '@temporalio/envconfig', '@temporalio/client', 'commander'),
  },
  {
    files: within('src/client'),
    may: ({ of, typesOnly }) =>
      within('src/protocol', 'src/client', 'src/blobs', 'src/errors').test(of) ||
      (typesOnly && isPackage(of, '@temporalio/client', '@temporalio/common')),
  },
  {
    files: within('src'),
    may: ({ of }) => isInner(of) || (!isOurs(of) && !isWorker(of) && !isFramework(of)),
  },
  {
    files: /^adapters\/[^/]+\//,
    may: ({ from, of }) =>
      isInner(of) ||
      of.startsWith(`${from.split('/').slice(0, 2).join('/')}/`) ||
      of.startsWith(`adapters/${BUILT_ON[from.split('/')[1]!]}/`) ||
      /^adapters\/[^/]+\.ts$/.test(of) ||
      isNode(of) ||
      isPackage(of, '@standard-schema/spec', ...(frameworks[from.split('/')[1]!] ?? [])),
  },
  {
    files: within('adapters'),
    may: ({ of }) => isInner(of) || /^adapters\/[^/]+\.ts$/.test(of) || isNode(of),
  },
  { files: within('examples'), may: ({ of }) => within('examples').test(of) || !isOurs(of) },
  { files: within('scripts', 'bench'), may: () => true },
];

/** Which adapter's framework that of another is built on. */
const BUILT_ON: Record<string, string> = { deepagents: 'langchain', langgraph: 'langchain' };

/** The framework of each adapter and what belongs to it, as it declares them. */
const frameworks: Record<string, string[]> = {};
for (const adapter of readdirSync(join(root, 'adapters'), { withFileTypes: true })) {
  if (!adapter.isDirectory()) continue;
  const path = pathToFileURL(join(root, 'adapters', adapter.name, 'dependencies.ts')).href;
  const { dependency, others = [] } = (await import(path)) as {
    dependency: { name: string };
    others?: readonly { name: string }[];
  };
  frameworks[adapter.name] = [dependency, ...others].map(({ name }) => name);
}

function isFramework(of: string): boolean {
  return isPackage(of, ...Object.values(frameworks).flat());
}

const IMPORT =
  /(?:^|\n)\s*(import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'|(?:^|\n)import\s+'([^']+)'/g;

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, , types, statement, dynamic, bare]) => {
    const of = (statement ?? dynamic ?? bare)!;
    return {
      from,
      of: of.startsWith('.') ? normalize(join(dirname(from), of)) : of,
      typesOnly: types !== undefined,
    };
  });
}

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const forbidden = (uses: Import[]) =>
  uses
    .filter((use) => !LAYERS.find(({ files }) => files.test(use.from))!.may(use))
    .map(({ from, of }) => `${from} must not import ${of}`);

test('an import only goes down', () => {
  const files = ['src', 'workflows', 'activities', 'adapters', 'examples'].flatMap(filesOf);
  const uses = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
  expect(uses.length).toBeGreaterThan(200);
  expect(forbidden(uses)).toEqual([]);
});

test('an import that goes up is found, however it is written', () => {
  const found = Object.entries({
    'src/protocol/x.ts': `import { Duration } from '@temporalio/common';`,
    'src/records/x.ts': `import {\n  a,\n  b,\n} from '../loop/loop.ts';`,
    'workflows/x.ts': `import { readFileSync } from 'node:fs';`,
    'workflows/y.ts': `import type { Loop } from '../src/loop/loop.ts';`,
    'activities/x.ts': `export { run } from '../workflows/index.ts';`,
    'src/loop/x.ts': `const { Worker } = await import('@temporalio/worker');`,
    'src/index.ts': `export * from './worker/index.ts';`,
    'src/client/x.ts': `import '../loop/loop.ts';`,
    'src/tools/x.ts': `import '../../adapters/openai-agents/index.ts';`,
    'src/worker/x.ts': `import { run } from '@openai/agents';`,
    'adapters/openai-agents/x.ts': `import { graph } from '../langchain/model.ts';`,
    'adapters/langchain/x.ts': `import { graph } from '../deepagents/index.ts';`,
    'adapters/openai-agents/y.ts': `import { z } from 'zod';`,
    'examples/x/main.ts': `import { agent } from '../../src/index.ts';`,
  }).map(([file, text]) => forbidden(importsOf(file, text)).length);
  expect(found).toEqual(found.map(() => 1));
});
