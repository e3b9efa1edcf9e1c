import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';
import { freePort } from '../../src/servers/free-port.ts';
import { findServerBinary, startDevServer, startTestServer } from '../../src/servers/index.ts';
import { fakeMachine, writeExecutable } from '../kit/fake-machine.ts';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servers-test-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('freePort()', () => {
  test('gives the same port to nobody else for a while, and one that can be bound at once', async () => {
    const ports: number[] = [];
    // The system by itself gives some ports twice in so many calls.
    while (ports.length < 600) {
      ports.push(await freePort());
    }
    expect(new Set(ports).size).toBe(600);
    const server = createServer().listen(ports[0], '127.0.0.1');
    await once(server, 'listening');
    server.close();
  });
});

describe('startDevServer()', () => {
  test('takes the server of TEMPORAL_ADDRESS as it is, and does not stop it', async () => {
    const environment = { TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_NAMESPACE: 'mine', PATH: '' };
    const server = await startDevServer({ environment });
    expect(server).toMatchObject({ address: 'temporal.example:7233', namespace: 'mine', pid: undefined });
    await server.stop();
  });

  test('starts a server that answers with its page and search attributes, and is gone after stop()', async () => {
    const server = await startDevServer({
      environment: ownServers(),
      ui: true,
      namespace: 'agents',
      searchAttributes: { AgentName: 'Keyword' },
    });
    const connection = await Connection.connect({ address: server.address });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'agents',
    });
    expect(Object.keys(customAttributes)).toContain('AgentName');
    expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
    await connection.close();
    await Promise.all([server.stop(), server.stop()]);
    expect(isAlive(server.pid)).toBe(false);
  });

  test('keeps its state in a file, on a port of our choice', async () => {
    const options = {
      environment: ownServers(),
      dbFilename: join(folder, 'state.db'),
      port: await freePort(),
    };
    for (const visit of [1, 2]) {
      const server = await startDevServer({ ...options, namespace: visit === 1 ? 'kept' : 'default' });
      expect(server.address).toBe(`127.0.0.1:${options.port}`);
      const connection = await Connection.connect({ address: server.address });
      await connection.workflowService.describeNamespace({ namespace: 'kept' });
      await connection.close();
      await server.stop();
    }
  });

  test('refuses a port that is taken, though another server answers there', async () => {
    const first = await startDevServer({ environment: ownServers() });
    const port = Number(first.address.split(':')[1]);
    await expect(startDevServer({ environment: ownServers(), port })).rejects.toThrow(
      /address already in use/,
    );
    await expect(startTestServer({ environment: ownServers(), port })).rejects.toThrow(/Cannot use port/);
    await first.stop();
  });

  test('takes another port when somebody was faster on the first', async () => {
    const { environment, onPath } = await fakeMachine(folder, 'unlucky');
    const real = await findServerBinary('dev', { environment: ownServers() });
    const failsOnce = `[ -e ${onPath}.once ] || { touch ${onPath}.once; echo 'bind: address already in use' >&2; exit 1; }`;
    await writeExecutable(onPath, `${failsOnce}\nexec ${real} "$@"`);
    const server = await startDevServer({
      environment: { ...environment, PATH: `${environment.PATH}:/usr/bin:/bin` },
    });
    await server.stop();
  });

  test('fails with what the server wrote when it ends at once', async () => {
    const { environment, onPath } = await fakeMachine(folder, 'broken');
    await writeExecutable(onPath, 'echo "no such flag" >&2; exit 2');
    await expect(startDevServer({ environment })).rejects.toThrow(
      `Cannot start ${onPath}: it ended at once. Try the command by hand.\nIt wrote: no such flag`,
    );
  });

  test('gives servers that start at once in several processes a port each, and ends them with a killed parent', async () => {
    const script = `
      const { startDevServer } = await import('${new URL('../../src/servers/index.ts', import.meta.url).href}');
      const servers = await Promise.all([startDevServer(), startDevServer()]);
      process.stdout.write(JSON.stringify(servers));
      setInterval(() => {}, 1000);`;
    const environment = ownServers();
    const parents = [1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script], {
        env: environment,
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const outputs = await Promise.all(parents.map((parent) => once(parent.stdout, 'data')));
    const servers = outputs.flatMap(
      ([text]) => JSON.parse(String(text)) as { address: string; pid: number }[],
    );
    expect(new Set(servers.map(({ address }) => address)).size).toBe(4);
    expect(servers.every(({ pid }) => isAlive(pid))).toBe(true);
    for (const parent of parents) {
      parent.kill('SIGKILL');
    }
    await until(() => servers.every(({ pid }) => !isAlive(pid)));
  });

  test('does not keep a process alive that forgets to stop it', async () => {
    const script = `
      const { startDevServer } = await import('${new URL('../../src/servers/index.ts', import.meta.url).href}');
      process.stdout.write(String((await startDevServer()).pid));`;
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await run(process.execPath, args, { env: ownServers() });
    await until(() => !isAlive(Number(stdout)));
  });
});

describe('startTestServer()', () => {
  test('takes the server of TEMPORAL_TEST_SERVER_ADDRESS as it is', async () => {
    const environment = { TEMPORAL_TEST_SERVER_ADDRESS: 'localhost:1', PATH: '' };
    await expect(startTestServer({ environment })).resolves.toMatchObject({ address: 'localhost:1' });
  });

  test('starts a server that can skip time, and is gone after stop()', async () => {
    const server = await startTestServer({ environment: ownServers() });
    const testService = { [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
    const connection = await Connection.connect({ address: server.address, ...testService });
    await connection.testService?.unlockTimeSkipping({});
    await connection.close();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});

/** The environment of this process, less the servers it may name: these tests start their own. */
function ownServers() {
  const { TEMPORAL_ADDRESS: _dev, TEMPORAL_TEST_SERVER_ADDRESS: _test, ...environment } = process.env;
  return environment;
}

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
