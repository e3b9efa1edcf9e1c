import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type BuiltPackage, buildPackage } from '../kit/built-package.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, string | Record<string, string>>;
  peerDependencies: Record<string, string>;
};
const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
let built: BuiltPackage;

beforeAll(async () => void (built = await buildPackage('exports')));
afterAll(() => built.remove());

/** What a plain Node process loads for an entry point, by the package it comes from, and what that takes. */
async function load(entry: string): Promise<{ exports: string[]; packages: string[]; milliseconds: number }> {
  const specifier = JSON.stringify(`temporal-agents${entry.slice(1)}`);
  const loaded = (await built.evaluate(`
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    const before = performance.now();
    const exports = Object.keys(await import(${specifier}));
    process.stdout.write(JSON.stringify({ exports, urls, milliseconds: performance.now() - before }), () => process.exit());
  `)) as { exports: string[]; urls: string[]; milliseconds: number };
  const packages = loaded.urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]);
  return { ...loaded, packages: [...new Set(packages.filter((name) => name !== undefined))].toSorted() };
}

describe.each(entries)('the entry point %s', (entry) => {
  test('loads from what is built, in a plain Node process', async () => {
    const { exports, milliseconds } = await load(entry);
    expect(exports.length).toBeGreaterThan(0);
    process.stdout.write(`  temporal-agents${entry.slice(1)} loads in ${Math.round(milliseconds)} ms\n`);
  });

  test('has a file for each of its conditions', () => {
    for (const [condition, path] of Object.entries(manifest.exports[entry] as Record<string, string>)) {
      const source = condition === '@temporal-agents/source';
      expect(existsSync(source ? new URL(`../../${path}`, import.meta.url) : join(built.folder, path))).toBe(
        true,
      );
    }
  });

  test('has a comment on everything it exports', () => {
    const { types } = manifest.exports[entry] as { types: string };
    const bare = declarationsOf(join(built.folder, types)).filter(({ comment }) => !comment);
    expect(bare.map(({ name }) => name)).toEqual([]);
  });
});

test.each(['.', './client'])('%s loads neither a worker nor a framework', async (entry) => {
  const { packages } = await load(entry);
  const light = new Set(['activity', 'client', 'common', 'proto'].map((name) => `@temporalio/${name}`));
  expect(packages.filter((name) => name.startsWith('@temporalio/') && !light.has(name))).toEqual([]);
  const peers = new Set(Object.keys(manifest.peerDependencies));
  const others = packages.filter((name) => !name.startsWith('@temporalio/'));
  expect(others.filter((name) => peers.has(name) || name === 'zod')).toEqual([]);
});

test("./client loads nothing but its own and what Temporal's client is made of", async () => {
  const { packages } = await load('./client');
  expect(packages.filter((name) => !['@temporalio/common', 'long', 'ms'].includes(name))).toEqual([]);
});

test('./testing loads no server, worker or test library until one is asked for', async () => {
  const { packages } = await load('./testing');
  expect(packages.filter((name) => /worker|testing|core-bridge/.test(name))).toEqual([]);
});

interface Declaration {
  name: string;
  comment: boolean;
}

/** Everything a declaration file exports, followed through re-exports, with whether it has a doc comment. */
function declarationsOf(file: string): Declaration[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\//g, '/** */');
  const own = [...text.matchAll(/(\*\/\s*)?\nexport (?:declare )?(?:abstract )?(?:async )?(\w+) (\w+)/g)]
    .filter(([, , kind]) => ['function', 'class', 'const', 'interface', 'type', 'let'].includes(kind!))
    .map(([, comment, , name]) => ({ name: name!, comment: comment !== undefined }));
  const named = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(
    ([, names, path]) => {
      const there = declarationsOf(pathOf(file, path!));
      return names!
        .split(',')
        .map(
          (name) =>
            name
              .trim()
              .replace(/^type /, '')
              .split(' as ')[0]!,
        )
        .filter(Boolean)
        .map((name) => {
          const found = there.filter((declaration) => declaration.name === name);
          if (found.length === 0) throw new Error(`${file} exports ${name}, which ${path} does not declare.`);
          // Of overloads, the first has the comment.
          return { name, comment: found.some(({ comment }) => comment) };
        });
    },
  );
  const all = [...text.matchAll(/export \* from '([^']+)'/g)].flatMap(([, path]) =>
    declarationsOf(pathOf(file, path!)),
  );
  return [...own, ...named, ...all];
}

function pathOf(file: string, specifier: string): string {
  return join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));
}
