import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Record<
  'dependencies' | 'peerDependencies' | 'devDependencies',
  Record<string, string>
> & { peerDependenciesMeta: Record<string, { optional: boolean }> };
const { dependencies, peerDependencies, devDependencies, peerDependenciesMeta } = manifest;

const files = ['src', 'workflows', 'activities', 'adapters'].flatMap((folder) =>
  readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`),
);
const imported = new Set(
  files
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'([^'.][^'\n]*)'/g)])
    .map(([, specifier]) => /^(@[^/]+\/)?[^/]+/.exec(specifier!)![0])
    .filter((name) => !name.startsWith('node:') && name !== 'temporal-agents'),
);

test('everything the shipped code imports is a dependency or a peer of the package, and nothing else is', () => {
  expect([...imported].toSorted()).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).toSorted());
});

test('everything is tested with one exact version', () => {
  for (const version of Object.values(devDependencies)) {
    expect(version).toMatch(/^(npm:@?[a-z/-]+@)?\d+\.\d+\.\d+$/);
  }
  for (const name of Object.keys(peerDependencies)) expect(devDependencies).toHaveProperty([name]);
});

const adapters = readdirSync(new URL('adapters', root), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

interface Dependency {
  name: string;
  range: string;
  tested: readonly string[];
}

describe.each(adapters.map(({ name }) => name))('the framework of the adapter %s', (name) => {
  test('is an optional peer in the range that the adapter declares, and is tested within it', async () => {
    const { dependency, others = [] } = (await import(
      new URL(`adapters/${name}/dependencies.ts`, root).href
    )) as { dependency: Dependency; others?: readonly Dependency[] };
    for (const { name: framework, range, tested } of [dependency, ...others]) {
      expect(peerDependencies[framework]).toBe(range);
      expect(peerDependenciesMeta[framework]).toEqual({ optional: true });
      expect(tested).toContain(devDependencies[framework]);
    }
  });
});
