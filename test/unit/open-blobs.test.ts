import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import { readS3Url } from '../../src/blobs/s3-url.ts';
import { DeclarationError } from '../../src/errors/index.ts';

const run = promisify(execFile);

test('a URL says which store, and the store says its URL', () => {
  for (const url of ['file:///var/lib/agents', 's3://bucket/prefix?region=eu-west-1'])
    expect(openBlobs(url).url).toBe(url);
  expect(openBlobs(new URL('file:///var/lib/agents')).url).toBe('file:///var/lib/agents');
});

test("a user's own store is taken as it is", () => {
  const own = { putIfAbsent: async () => true } as unknown as BlobStore;
  expect(openBlobs(own)).toBe(own);
});

test('an S3 URL is read', () => {
  const read = (url: string) => readS3Url(new URL(url));
  expect(read('s3://b')).toEqual({ url: 's3://b', bucket: 'b', prefix: '' });
  expect(read('s3://b/')).toEqual({ url: 's3://b/', bucket: 'b', prefix: '' });
  expect(read('s3://b/Some/pre%20fix/')).toMatchObject({ prefix: 'Some/pre fix/' });
  const url = 's3://b/p?endpoint=http://127.0.0.1:9000&region=here&forcePathStyle=true';
  expect(read(url)).toEqual({
    url,
    bucket: 'b',
    prefix: 'p/',
    endpoint: 'http://127.0.0.1:9000',
    region: 'here',
    forcePathStyle: true,
  });
});

test.each([
  ['https://bucket/prefix', 'use file:///an/absolute/path or s3://bucket/prefix'],
  ['/var/lib/agents', 'file:///an/absolute/path'],
  ['', 'file:///an/absolute/path'],
  ['file:blobs', 'absolute path'],
  ['file://blobs/x', 'absolute path'],
  ['file:///blobs?a=b', 'absolute path'],
  ['file:///blobs/%2F', 'absolute path'],
  ['s3:///prefix', 'names no bucket'],
  ['s3://bucket?regoin=x', 'the parameters are endpoint, region, forcePathStyle'],
  ['s3://bucket?endpoint=localhost', 'http:// or https://'],
  ['s3://bucket?forcePathStyle=yes', 'true or false'],
  ['s3://bucket/a//b', 'folders joined by /'],
  [`s3://bucket/${'a'.repeat(121)}`, 'at most 120 bytes'],
])('the URL %s is refused: %s', (url, why) => {
  expect(() => openBlobs(url)).toThrow(DeclarationError);
  expect(() => openBlobs(url)).toThrow(why);
});

test.each([
  's3://key:hidden@bucket',
  's3://bucket?endpoint=http://key:hidden@host',
  's3://bucket?endpoint=key:hidden@host',
  's3://bucket?secretAccessKey=hidden',
  's3://key:hid/den@bucket',
  's3://key:12/hidden@bucket',
  'https://key:hidden@bucket',
])('credentials in a URL are refused and not shown: %s', (url) => {
  expect(() => openBlobs(url)).toThrow(DeclarationError);
  expect(() => openBlobs(url)).not.toThrow(/hid|den@|key:/);
});

test('where the SDK is not installed, a call says how to install it, and files need none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'no-sdk-'));
  try {
    for (const part of ['blobs', 'errors', 'protocol']) {
      const source = fileURLToPath(new URL(`../../src/${part}`, import.meta.url));
      await cp(source, join(folder, part), { recursive: true });
    }
    const module = `
      import { openBlobs } from './blobs/open-blobs.ts';
      const files = openBlobs('file:///blobs');
      const s3 = openBlobs('s3://bucket');
      const calls = [s3.get('a'), s3.put('a'), s3.putIfAbsent('a'), s3.list('').next(), s3.delete('a')];
      const said = await Promise.all(calls.map((call) => call.catch(({ name, message }) => name + ': ' + message)));
      console.log(JSON.stringify({ files: files.url, said }));`;
    const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', module];
    const { stdout } = await run(process.execPath, options, { cwd: folder });
    const missing =
      'DeclarationError: Cannot open s3://bucket: the package @aws-sdk/client-s3 cannot be loaded. ' +
      'Run: npm install @aws-sdk/client-s3@3';
    expect(JSON.parse(stdout)).toEqual({
      files: 'file:///blobs',
      said: Array.from({ length: 5 }, () => missing),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
