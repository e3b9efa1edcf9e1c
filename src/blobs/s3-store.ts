/** Blobs as objects in a bucket of S3, or of a server that speaks as S3 does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BlobNotFoundError, BlobStoreError, DeclarationError } from '../errors/index.ts';
import { assertKey, assertPrefix, isKey, type BlobEntry, type BlobStore } from './blob-store.ts';
import { inKeyOrder } from './in-key-order.ts';
import type { S3Place } from './s3-url.ts';

interface Opened {
  sdk: typeof import('@aws-sdk/client-s3');
  client: S3Client;
}

/**
 * Longest silence on a connection, in milliseconds. The SDK for JavaScript waits for ever; this is what AWS's SDK for
 * Java has (`SdkHttpConfigurationOption`, read timeout).
 */
const TIMEOUT_MS = 30_000;
/** Longest time to connect, in milliseconds: one lost packet or two, and no more. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Attempts of one request, the SDK's own default. Who calls us tries again for longer. */
const ATTEMPTS = 3;
/** How often a write is tried that S3 refuses while it settles another one of the same key. */
const CONFLICT_ATTEMPTS = 10;
/** An object that is there once conditional writes were seen to work; not a key, so never listed. */
const CHECKED = '.conditional-writes';
/** What the store can never do, whatever is mended: too large, or it lacks the operation. */
const FINAL = new Set(['EntityTooLarge', 'KeyTooLongError', 'MethodNotAllowed', 'NotImplemented']);

/** Opens a store. Nothing is loaded or asked yet. */
export function openS3(place: S3Place, timeoutMs: number = TIMEOUT_MS): S3Store {
  return new S3Store(place, timeoutMs);
}

/** A bucket, or what begins with a prefix in it, as a store. Its SDK is loaded with the first call. */
class S3Store implements BlobStore {
  readonly url: string;
  readonly #place: S3Place;
  readonly #timeoutMs: number;
  #opened: Promise<Opened> | undefined;
  /** Whom it asked last: the endpoint may come from the environment. */
  #host = '';
  #checked: Promise<void> | undefined;

  constructor(place: S3Place, timeoutMs: number) {
    this.url = place.url;
    this.#place = place;
    this.#timeoutMs = timeoutMs;
  }

  async get(key: string): Promise<Uint8Array> {
    assertKey(key);
    const { sdk, client } = await this.#open();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand(this.#object(key)));
      return await Body!.transformToByteArray();
    } catch (error) {
      if (nameOf(error) !== 'NoSuchKey') throw this.#failed('read', `blob ${key}`, error);
      const message = `Cannot read blob ${key} in ${this.#where()}: there is none.`;
      throw new BlobNotFoundError(message, { cause: error });
    }
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    assertKey(key);
    const opened = await this.#open();
    try {
      await settled(opened, new opened.sdk.PutObjectCommand({ ...this.#object(key), Body: bytes }));
    } catch (error) {
      throw this.#failed('write', `blob ${key}`, error);
    }
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    assertKey(key);
    const opened = await this.#open();
    try {
      await (this.#checked ??= this.#checkConditionalWrites(opened));
      return await this.#create(opened, key, bytes);
    } catch (error) {
      throw this.#failed('write', `blob ${key}`, error);
    }
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    assertPrefix(prefix);
    yield* inKeyOrder(this.#listed(await this.#open(), prefix), prefix);
  }

  async delete(key: string): Promise<void> {
    assertKey(key);
    const { sdk, client } = await this.#open();
    try {
      await client.send(new sdk.DeleteObjectCommand(this.#object(key)));
    } catch (error) {
      throw this.#failed('delete', `blob ${key}`, error);
    }
  }

  async #open(): Promise<Opened> {
    return await (this.#opened ??= this.#load());
  }

  async #load(): Promise<Opened> {
    const sdk = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
      const why = 'the package @aws-sdk/client-s3 cannot be loaded. Run: npm install @aws-sdk/client-s3@3';
      throw new DeclarationError(`Cannot open ${this.url}: ${why}`, { cause });
    });
    const { url: _url, bucket: _bucket, prefix: _prefix, ...settings } = this.#place;
    const connectionTimeout = Math.min(this.#timeoutMs, CONNECT_TIMEOUT_MS);
    const requestHandler = { socketTimeout: this.#timeoutMs, connectionTimeout };
    const client = new sdk.S3Client({ ...settings, maxAttempts: ATTEMPTS, requestHandler });
    client.middlewareStack.add(
      (next) => async (args) => {
        const { hostname, port } = args.request as { hostname: string; port?: number };
        this.#host = port === undefined ? hostname : `${hostname}:${port}`;
        return await next(args);
      },
      { step: 'build', name: 'rememberHost' },
    );
    return { sdk, client };
  }

  async *#listed({ sdk, client }: Opened, prefix: string): AsyncIterable<BlobEntry> {
    const { bucket, prefix: root } = this.#place;
    try {
      const where = { Bucket: bucket, Prefix: root + prefix };
      for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client }, where)) {
        for (const { Key, Size = 0, LastModified } of Contents) {
          const key = Key!.slice(root.length);
          if (isKey(key)) yield { key, size: Size, writtenAt: LastModified?.getTime() ?? 0 };
        }
      }
    } catch (error) {
      throw this.#failed('list', `blobs under ${prefix || '/'}`, error);
    }
  }

  /** A server that does not know `If-None-Match` may pass over it, and let everyone win. */
  async #checkConditionalWrites(opened: Opened): Promise<void> {
    try {
      const once = async () => await this.#create(opened, CHECKED, new Uint8Array());
      if ((await once()) && (await once()))
        throw Object.assign(new Error('it ignores If-None-Match'), { name: 'NotImplemented' });
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  async #create(opened: Opened, key: string, bytes: Uint8Array): Promise<boolean> {
    const writer = randomUUID();
    const object = { ...this.#object(key), Body: bytes, Metadata: { writer } };
    try {
      await settled(opened, new opened.sdk.PutObjectCommand({ ...object, IfNoneMatch: '*' }));
      return true;
    } catch (error) {
      if (statusOf(error) !== 412) throw error;
      // What is there may be ours: the answer to an attempt was lost, and it was sent again.
      return (await this.#writerOf(opened, key)) === writer;
    }
  }

  async #writerOf({ sdk, client }: Opened, key: string): Promise<string | undefined> {
    try {
      const { Metadata } = await client.send(new sdk.HeadObjectCommand(this.#object(key)));
      return Metadata?.['writer'];
    } catch (error) {
      // Deleted since.
      if (nameOf(error) === 'NotFound') return undefined;
      throw error;
    }
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: this.#place.prefix + key };
  }

  #where(): string {
    return this.url.includes(this.#host) ? this.url : `${this.url} (${this.#host})`;
  }

  #failed(verb: string, what: string, error: unknown): BlobStoreError {
    const status = statusOf(error);
    const said = [nameOf(error), status && `HTTP ${status}`, textOf(error)].filter(Boolean).join(', ');
    return new BlobStoreError(`Cannot ${verb} ${what} in ${this.#where()}: ${said}`, {
      cause: error,
      retryable: !FINAL.has(nameOf(error)),
    });
  }
}

/** Sends a write, again where S3 still settles another one of the same key. */
async function settled({ client }: Opened, write: PutObjectCommand): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(write);
      return;
    } catch (error) {
      if (statusOf(error) !== 409 || attempt === CONFLICT_ATTEMPTS) throw error;
      await delay(Math.random() * 100 * attempt);
    }
  }
}

/** The code that S3 gave, or what the SDK calls what befell it. */
function nameOf(error: unknown): string {
  const name = (error as Error | undefined)?.name ?? '';
  return name === 'Error' ? '' : name;
}

/** An error of the network may have nothing but a code, and one of several addresses nothing but its parts. */
function textOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: unknown[] };
  return message || errors?.map(textOf).join('; ') || code || String(error);
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
