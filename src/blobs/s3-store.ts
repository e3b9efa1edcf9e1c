/** Blobs as objects in a bucket of S3, or of a server that speaks as S3 does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BlobNotFoundError, BlobStoreError, DeclarationError } from '../errors/index.ts';
import { assertKey, assertPrefix, byKey, isKey, type BlobEntry, type BlobStore } from './blob-store.ts';
import type { S3Place } from './s3-url.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

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
const EMPTY = new Uint8Array();
/** What the store can never do, whatever is mended: too large, or it lacks the operation. */
const FINAL = new Set(['EntityTooLarge', 'KeyTooLongError', 'MethodNotAllowed', 'NotImplemented']);

/** Opens a store; nothing is asked of it yet. @throws DeclarationError if the SDK is not installed */
export async function openS3(place: S3Place, timeoutMs: number = TIMEOUT_MS): Promise<S3Store> {
  return new S3Store(await loadSdk(place), place, timeoutMs);
}

async function loadSdk({ url }: S3Place): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    throw new DeclarationError(
      `Cannot open ${url}: the package @aws-sdk/client-s3 cannot be loaded. Run: npm install @aws-sdk/client-s3@3`,
      { cause: error },
    );
  }
}

/** A bucket, or what begins with a prefix in it, as a store. */
export class S3Store implements BlobStore {
  readonly url: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  /** Whom it asked last: the endpoint may come from the environment. */
  #host = '';
  #checked: Promise<void> | undefined;

  constructor(sdk: Sdk, place: S3Place, timeoutMs: number) {
    const { url, bucket, prefix, ...settings } = place;
    this.url = url;
    this.#sdk = sdk;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new sdk.S3Client({
      ...settings,
      maxAttempts: ATTEMPTS,
      requestHandler: {
        socketTimeout: timeoutMs,
        connectionTimeout: Math.min(timeoutMs, CONNECT_TIMEOUT_MS),
      },
    });
    this.#client.middlewareStack.add(
      (next) => async (args) => {
        const { hostname, port } = args.request as { hostname: string; port?: number };
        this.#host = port === undefined ? hostname : `${hostname}:${port}`;
        return await next(args);
      },
      { step: 'build', name: 'rememberHost' },
    );
  }

  async get(key: string): Promise<Uint8Array> {
    assertKey(key);
    try {
      const { Body } = await this.#client.send(new this.#sdk.GetObjectCommand(this.#object(key)));
      return await Body!.transformToByteArray();
    } catch (error) {
      if (nameOf(error) !== 'NoSuchKey') throw this.#failed('read', `blob ${key}`, error);
      throw new BlobNotFoundError(`Cannot read blob ${key} in ${this.#where()}: there is none.`, {
        cause: error,
      });
    }
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    assertKey(key);
    try {
      await this.#settled(new this.#sdk.PutObjectCommand({ ...this.#object(key), Body: bytes }));
    } catch (error) {
      throw this.#failed('write', `blob ${key}`, error);
    }
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    assertKey(key);
    try {
      await (this.#checked ??= this.#checkConditionalWrites());
      return await this.#create(key, bytes);
    } catch (error) {
      throw this.#failed('write', `blob ${key}`, error);
    }
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    assertPrefix(prefix);
    const entries: BlobEntry[] = [];
    try {
      const where = { Bucket: this.#bucket, Prefix: this.#prefix + prefix };
      for await (const { Contents = [] } of this.#sdk.paginateListObjectsV2(
        { client: this.#client },
        where,
      )) {
        for (const { Key, Size = 0, LastModified } of Contents) {
          const key = Key!.slice(this.#prefix.length);
          if (isKey(key)) entries.push({ key, size: Size, writtenAt: LastModified?.getTime() ?? 0 });
        }
      }
    } catch (error) {
      throw this.#failed('list', `blobs under ${prefix || '/'}`, error);
    }
    // S3 has them in order; SeaweedFS has `a/b` before `a-b`.
    yield* entries.toSorted(byKey);
  }

  async delete(key: string): Promise<void> {
    assertKey(key);
    try {
      await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#object(key)));
    } catch (error) {
      throw this.#failed('delete', `blob ${key}`, error);
    }
  }

  /** A server that does not know `If-None-Match` may pass over it, and let everyone win. */
  async #checkConditionalWrites(): Promise<void> {
    try {
      const ignored = (await this.#create(CHECKED, EMPTY)) && (await this.#create(CHECKED, EMPTY));
      if (ignored) throw Object.assign(new Error('it ignores If-None-Match'), { name: 'NotImplemented' });
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  async #create(key: string, bytes: Uint8Array): Promise<boolean> {
    const writer = randomUUID();
    const object = { ...this.#object(key), Body: bytes, Metadata: { writer } };
    try {
      await this.#settled(new this.#sdk.PutObjectCommand({ ...object, IfNoneMatch: '*' }));
      return true;
    } catch (error) {
      if (statusOf(error) !== 412) throw error;
      // What is there may be ours: the answer to an attempt was lost, and it was sent again.
      return (await this.#writerOf(key)) === writer;
    }
  }

  async #writerOf(key: string): Promise<string | undefined> {
    try {
      const { Metadata } = await this.#client.send(new this.#sdk.HeadObjectCommand(this.#object(key)));
      return Metadata?.['writer'];
    } catch (error) {
      // Deleted since.
      if (nameOf(error) === 'NotFound') return undefined;
      throw error;
    }
  }

  /** Sends a write, again where S3 still settles another one of the same key. */
  async #settled(write: PutObjectCommand): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#client.send(write);
        return;
      } catch (error) {
        if (statusOf(error) !== 409 || attempt === CONFLICT_ATTEMPTS) throw error;
        await delay(Math.random() * 100 * attempt);
      }
    }
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
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
