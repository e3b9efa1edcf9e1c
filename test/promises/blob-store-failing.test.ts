import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import { openS3 } from '../../src/blobs/s3-store.ts';
import { readS3Url } from '../../src/blobs/s3-url.ts';
import { BlobNotFoundError, BlobStoreError } from '../../src/errors/index.ts';
import { spawnBlobs } from '../kit/blob-process.ts';
import { type FaultyProxy, startFaultyProxy } from '../kit/faulty-proxy.ts';
import { reader, startS3Server, writer } from '../kit/s3-server.ts';

const folder = await mkdtemp(join(tmpdir(), 'blobs-failing-'));
const s3 = await startS3Server();
Object.assign(process.env, writer, { AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' });

afterAll(async () => {
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a store over files', () => {
  let root: string;
  let url: string;
  beforeEach(async () => {
    root = await mkdtemp(join(folder, 'store-'));
    url = pathToFileURL(root).href;
    // For the user that a process becomes.
    await chmod(folder, 0o755);
    await chmod(root, 0o755);
  });

  test('that may not be written says so, and goes on once it may', async () => {
    await chmod(root, 0o555);
    const child = await spawnBlobs(url, { userId: 65_534 });
    try {
      for (const method of ['put', 'putIfAbsent'] as const) {
        const { error } = await child.call(method, 'a/b', bytes('a'));
        expect(error).toMatchObject({ name: 'BlobStoreError', retryable: true });
        expect(error!.message).toContain(`Cannot write blob a/b in ${url}: EACCES`);
      }
      await chmod(root, 0o777);
      expect(await child.call('putIfAbsent', 'a/b', bytes('a'))).toEqual({ result: true });
    } finally {
      await child.kill();
    }
  });

  test('on a full disk says so, leaves nothing of the write, and goes on once there is room', async () => {
    const within = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'];
    if (!canRun([...within, `mount -t tmpfs tmpfs ${root}`])) {
      process.stderr.write('A full disk is not tested: this system lets nobody mount a small one.\n');
      return;
    }
    const mounted = `mount -t tmpfs -o size=1m tmpfs ${root} && exec "$@"`;
    const child = await spawnBlobs(url, { within: [...within, mounted, 'sh'] });
    try {
      const large = new Uint8Array(600_000);
      expect(await child.call('putIfAbsent', 'first', large)).toEqual({ result: true });
      const { error } = await child.call('putIfAbsent', 'second', large);
      expect(error).toMatchObject({ name: 'BlobStoreError', retryable: true });
      expect(error!.message).toContain(`Cannot write blob second in ${url}: ENOSPC`);
      expect((await child.call('get', 'second')).error).toMatchObject({ name: 'BlobNotFoundError' });
      await child.call('delete', 'first');
      expect(await child.call('putIfAbsent', 'second', large)).toEqual({ result: true });
    } finally {
      await child.kill();
    }
  });

  test('says that a blob is larger than its process may write, and leaves nothing of it', async () => {
    const child = await spawnBlobs(url, { within: ['sh', '-c', 'ulimit -f 64; exec "$@"', 'sh'] });
    try {
      const { error } = await child.call('put', 'large', new Uint8Array(600_000));
      expect(error).toMatchObject({ name: 'BlobStoreError', retryable: true });
      expect(error!.message).toContain('EFBIG');
      expect(await child.call('put', 'small', bytes('a'))).toEqual({ result: undefined });
      expect(await readdir(join(root, '.unfinished'))).toEqual([]);
    } finally {
      await child.kill();
    }
  });

  test('whose folder is a file says so, and goes on once it is none', async () => {
    const file = join(root, 'file');
    await writeFile(file, 'in the way');
    const store = openBlobs(pathToFileURL(join(file, 'store')));
    const all = async () => {
      for await (const _ of store.list('')) return;
    };
    for (const call of [
      store.get('a'),
      store.put('a', bytes('a')),
      store.putIfAbsent('a', bytes('a')),
      all(),
    ])
      await failing(call, 'ENOTDIR', store.url);
    await failing(store.delete('a'), 'ENOTDIR', store.url);
    await rm(file);
    expect(await store.putIfAbsent('a', bytes('a'))).toBe(true);
  });

  test('refuses for good a key that is the folder of another', async () => {
    const store = openBlobs(url);
    await store.put('a/b', bytes('b'));
    await failing(store.put('a', bytes('a')), 'EISDIR', 'a', false);
    await failing(store.putIfAbsent('a', bytes('a')), 'folder of other blobs', 'a', false);
    await failing(store.put('a/b/c', bytes('c')), 'a/b/c', 'file://', false);
    await failing(store.putIfAbsent('a/b/c', bytes('c')), 'a/b/c', 'file://', false);
    await store.delete('a/b');
    expect(await store.putIfAbsent('a', bytes('a'))).toBe(true);
  });

  test('removes what killed processes left unfinished, and lists neither that nor what is not its own', async () => {
    const unfinished = join(root, '.unfinished');
    await mkdir(unfinished);
    for (const name of ['old', 'new']) await writeFile(join(unfinished, name), 'half');
    await utimes(join(unfinished, 'old'), new Date(), new Date(Date.now() - 25 * 3_600_000));
    for (const name of ['README', '.hidden']) await writeFile(join(root, name), 'of a person');
    const store = openBlobs(url);
    await store.put('a', bytes('a'));
    expect(await readdir(unfinished)).toEqual(['new']);
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    expect(keys).toEqual(['a']);
  });

  test('loses no write to a process that removes empty folders', async () => {
    const store = openBlobs(url);
    for (let round = 0; round < 50; round++) {
      await store.put('folder/of/one', bytes('one'));
      await Promise.all([store.delete('folder/of/one'), store.put('folder/of/two', bytes('two'))]);
      expect(await store.get('folder/of/two')).toEqual(bytes('two'));
      await store.delete('folder/of/two');
    }
    expect(await readdir(root)).toEqual(['.unfinished']);
  });
});

(s3 ? describe : describe.skip)('a store over S3', () => {
  let proxy: FaultyProxy;
  let url: string;
  let store: BlobStore;
  beforeAll(async () => void (proxy = await startFaultyProxy(s3!.endpoint)));
  afterAll(async () => await proxy.stop());
  beforeEach(async () => {
    url = `s3://${s3!.bucket}/failing?endpoint=${proxy.endpoint}&forcePathStyle=true`;
    // Silence for a second, that the tests need not wait for thirty.
    store = openS3(readS3Url(new URL(url)), 1_000);
    await store.put('there', new Uint8Array(100_000));
    proxy.requests.length = 0;
  });
  afterEach(() => {
    Object.assign(process.env, writer);
    proxy.faults.length = 0;
  });

  test.each([
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [429, 'TooManyRequests'],
  ])(
    'that answers %d goes on by itself if that is short, else says so, and goes on when it is back',
    async (status, code) => {
      proxy.faults.push({ status, code });
      expect(await store.get('there')).toHaveLength(100_000);
      proxy.faults.push(...Array.from({ length: 3 }, () => ({ status, code })));
      await failing(store.get('there'), code, `HTTP ${status}`, true);
      expect(proxy.requests).toHaveLength(5);
      expect(await store.get('there')).toHaveLength(100_000);
    },
  );

  test.each(['hang', 'stall', 'cut'] as const)('whose answers %s is given up, and goes on', async (fault) => {
    proxy.faults.push(fault, fault, fault);
    const before = Date.now();
    await failing(store.get('there'), 'Cannot read blob there', new URL(proxy.endpoint).host);
    expect(Date.now() - before).toBeLessThan(10_000);
    proxy.faults.length = 0;
    expect(await store.get('there')).toHaveLength(100_000);
  });

  test('knows its own write although the answer to it was lost', async () => {
    await store.putIfAbsent('first', bytes('of all'));
    proxy.requests.length = 0;
    proxy.faults.push('lose the answer');
    expect(await store.putIfAbsent('lost', bytes('mine'))).toBe(true);
    expect(proxy.requests).toEqual(['PUT', 'PUT', 'HEAD']);
    expect(await store.putIfAbsent('lost', bytes('mine'))).toBe(false);
    await store.delete('lost');
  });

  test('writes again what is refused while another write is settled', async () => {
    await store.putIfAbsent('first', bytes('of all'));
    const conflict = { status: 409, code: 'ConditionalRequestConflict' };
    proxy.faults.push(conflict, conflict);
    expect(await store.putIfAbsent('conflict', bytes('a'))).toBe(true);
    proxy.faults.push(conflict, conflict);
    expect(await store.putIfAbsent('conflict', bytes('a'))).toBe(false);
    await store.delete('conflict');
  });

  test('that does not know conditional writes says so for good, also where it passes over them', async () => {
    proxy.faults.push({ status: 501, code: 'NotImplemented' });
    await failing(store.putIfAbsent('unconditional', bytes('a')), 'NotImplemented', '501', false);
    // What a server answers that writes whatever is there.
    proxy.faults.push({ status: 200 }, { status: 200 });
    await failing(store.putIfAbsent('unconditional', bytes('a')), 'ignores If-None-Match', url, false);
    expect(proxy.requests).toEqual(['PUT', 'PUT', 'PUT']);
    expect(await store.putIfAbsent('unconditional', bytes('a'))).toBe(true);
    await store.delete('unconditional');
  });

  test.each([
    ['a wrong secret', { ...writer, AWS_SECRET_ACCESS_KEY: 'wrong' }, 'SignatureDoesNotMatch'],
    [
      'an unknown user',
      { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'wrong' },
      'InvalidAccessKeyId',
    ],
    ['no credentials', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 'CredentialsProviderError'],
    ['one who may only read', reader, 'AccessDenied'],
  ])('says that %s cannot write, shows no secret, and goes on with right ones', async (_who, env, said) => {
    Object.assign(process.env, env);
    const other = openBlobs(url);
    for (const call of [other.put('a', bytes('a')), other.putIfAbsent('a', bytes('a')), other.delete('a')]) {
      const { message } = await failing(call, said, url);
      for (const secret of [env.AWS_SECRET_ACCESS_KEY, writer.AWS_SECRET_ACCESS_KEY])
        if (secret) expect(message).not.toContain(secret);
    }
    Object.assign(process.env, writer);
    await openBlobs(url).put('a', bytes('a'));
  });

  test('says that there is no bucket, which is not that there is no blob', async () => {
    const other = openBlobs(url.replace(s3!.bucket, 'no-such-bucket'));
    const error = await failing(other.get('a'), 'NoSuchBucket', 's3://no-such-bucket');
    expect(error).not.toBeInstanceOf(BlobNotFoundError);
    await expect(store.get('a/b')).rejects.toThrow(BlobNotFoundError);
  });

  test('says that nobody listens, and where', async () => {
    const other = openBlobs(url.replace(proxy.endpoint, 'http://127.0.0.1:1'));
    await failing(other.get('a'), 'ECONNREFUSED', '127.0.0.1:1');
  });

  test('takes its endpoint from the environment, and names it when it fails', async () => {
    process.env['AWS_ENDPOINT_URL_S3'] = proxy.endpoint;
    try {
      const other = openBlobs(`s3://${s3!.bucket}/failing`);
      expect(await other.get('there')).toHaveLength(100_000);
      expect(proxy.requests).toEqual(['GET']);
      proxy.faults.push({ status: 400, code: 'OutOfOrder' });
      await failing(other.get('there'), 'OutOfOrder', new URL(proxy.endpoint).host);
    } finally {
      delete process.env['AWS_ENDPOINT_URL_S3'];
    }
  });
});

/** A call fails as the store failing, and says these things. */
async function failing(
  call: Promise<unknown>,
  said: string,
  where: string,
  retryable = true,
): Promise<BlobStoreError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BlobStoreError);
  const { message, cause, retryable: may } = error as BlobStoreError;
  expect(message).toContain(said);
  expect(message).toContain(where);
  expect({ message, may }).toEqual({ message, may: retryable });
  expect(cause).toBeDefined();
  return error as BlobStoreError;
}

function canRun([command, ...args]: string[]): boolean {
  try {
    execFileSync(command!, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
