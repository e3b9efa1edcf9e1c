/** Blobs as files under one folder, safe for any number of processes on one disk. */
import { readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BlobNotFoundError, BlobStoreError } from '../errors/index.ts';
import { assertKey, assertPrefix, isKey, type BlobEntry, type BlobStore } from './blob-store.ts';
import { codeOf, FileWriter, syncFolder } from './file-writer.ts';
import { byKey } from './in-key-order.ts';

/** A folder as a store. Several processes may use it at once; on a network drive, if that has hard links. */
export class FileStore implements BlobStore {
  readonly url: string;
  readonly #root: string;
  readonly #writer: FileWriter;

  /** @param root an absolute path; it is made with the first write */
  constructor(root: string) {
    this.#root = root;
    this.#writer = new FileWriter(root);
    this.url = pathToFileURL(root).href;
  }

  async get(key: string): Promise<Uint8Array> {
    return await this.#doing('read', key, async (path) => {
      try {
        const { buffer, byteOffset, byteLength } = await readFile(path);
        return new Uint8Array(buffer, byteOffset, byteLength);
      } catch (error) {
        if (!(await this.#isAbsent(error))) throw error;
        throw new BlobNotFoundError(`Cannot read blob ${key} in ${this.url}: there is none.`, {
          cause: error,
        });
      }
    });
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#doing('write', key, async (path) => await this.#writer.replace(path, bytes));
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    return await this.#doing('write', key, async (path) => await this.#writer.create(path, bytes));
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    assertPrefix(prefix);
    yield* this.#walk(prefix);
  }

  async delete(key: string): Promise<void> {
    await this.#doing('delete', key, async (path) => {
      try {
        await rm(path);
      } catch (error) {
        if (!(await this.#isAbsent(error))) throw error;
        return;
      }
      await syncFolder(dirname(path));
      await this.#removeEmptyFolders(key);
    });
  }

  async *#walk(prefix: string): AsyncIterable<BlobEntry> {
    for (const { name, folder } of await this.#listing(prefix)) {
      const key = `${prefix}${name}`;
      if (folder) {
        yield* this.#walk(`${key}/`);
        continue;
      }
      const found = await this.#doing('list', key, async (path) => await stat(path).catch(ignoreAbsent));
      // Deleted since the folder was read.
      if (found) yield { key, size: found.size, writtenAt: Math.floor(found.mtimeMs) };
    }
  }

  /** Files and folders right under a prefix, in the order of the keys they lead to. */
  async #listing(prefix: string): Promise<{ name: string; folder: boolean }[]> {
    try {
      const entries = await readdir(join(this.#root, prefix), { withFileTypes: true });
      return entries
        .filter((entry) => isKey(entry.name) && (entry.isFile() || entry.isDirectory()))
        .map((entry) => {
          const folder = entry.isDirectory();
          return { name: entry.name, folder, key: folder ? `${entry.name}/` : entry.name };
        })
        .toSorted(byKey);
    } catch (error) {
      if (await this.#isAbsent(error)) return [];
      throw await this.#failed('list', `blobs under ${prefix || '/'}`, error);
    }
  }

  /** Up to the root. Another process may just need one: its write makes it again. */
  async #removeEmptyFolders(key: string): Promise<void> {
    const segments = key.split('/');
    while (segments.length > 1) {
      segments.pop();
      try {
        await rmdir(join(this.#root, ...segments));
      } catch {
        return;
      }
    }
  }

  /** Whether there is nothing of that key, be it that a part of it is a blob or that it is a folder of others. */
  async #isAbsent(error: unknown): Promise<boolean> {
    const code = codeOf(error) ?? '';
    if (['ENOENT', 'EISDIR', 'ERR_FS_EISDIR'].includes(code)) return true;
    return code === 'ENOTDIR' && (await this.#hasRoot());
  }

  async #hasRoot(): Promise<boolean> {
    const found = await stat(this.#root).catch(() => undefined);
    return found?.isDirectory() ?? false;
  }

  async #doing<T>(what: string, key: string, act: (path: string) => Promise<T>): Promise<T> {
    assertKey(key);
    try {
      return await act(join(this.#root, ...key.split('/')));
    } catch (error) {
      if (error instanceof BlobNotFoundError) throw error;
      throw await this.#failed(what, `blob ${key}`, error);
    }
  }

  async #failed(verb: string, what: string, error: unknown): Promise<BlobStoreError> {
    const { message } = error instanceof Error ? error : new Error(String(error));
    const code = codeOf(error) ?? '';
    // A key that is the folder of another, or too long for this disk, stays so.
    const keyIsWrong =
      ['EISDIR', 'ENAMETOOLONG'].includes(code) ||
      (['ENOTDIR', 'EEXIST'].includes(code) && (await this.#hasRoot()));
    return new BlobStoreError(`Cannot ${verb} ${what} in ${this.url}: ${message}`, {
      cause: error,
      retryable: !keyIsWrong,
    });
  }
}

function ignoreAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
