/** Blobs as files under one folder, safe for any number of processes on one disk. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BlobNotFoundError, BlobStoreError } from '../errors/index.ts';
import { assertKey, type BlobEntry, type BlobStore } from './blob-store.ts';

/** Under the root, where a file is written before it gets its name; no key begins with a dot. */
const UNFINISHED = '.unfinished';

export class FileStore implements BlobStore {
  readonly url: string;
  readonly #root: string;

  /** @param root an absolute path; it is made with the first write */
  constructor(root: string) {
    this.#root = root;
    this.url = pathToFileURL(root).href;
  }

  async get(key: string): Promise<Uint8Array> {
    return await this.#doing('read', key, async (path) => await readFile(path));
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#doing('write', key, async (path) => {
      await this.#write(bytes, async (unfinished) => await rename(unfinished, path), path);
    });
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    return await this.#doing('write', key, async (path) => {
      if (await exists(path)) return false;
      let written = true;
      const place = async (unfinished: string) => {
        try {
          // Unlike a rename, a link never replaces.
          await link(unfinished, path);
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error;
          written = false;
        }
        await rm(unfinished);
      };
      await this.#write(bytes, place, path);
      return written;
    });
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    if (prefix !== '') assertKey(prefix.replace(/\/$/, ''));
    yield* this.#walk(prefix);
  }

  async delete(key: string): Promise<void> {
    await this.#doing('delete', key, async (path) => await rm(path, { force: true }));
  }

  async *#walk(prefix: string): AsyncIterable<BlobEntry> {
    const entries = await this.#listing(prefix);
    for (const { name, folder } of entries) {
      const key = `${prefix}${name}`;
      if (folder) {
        yield* this.#walk(`${key}/`);
        continue;
      }
      // Deleted since it was listed.
      const found = await this.#doing('list', key, async (path) => await stat(path)).catch(ignoreNotFound);
      if (found) yield { key, size: found.size, writtenAt: found.mtimeMs };
    }
  }

  /** Files and folders right under a prefix, in the order of the keys they lead to. */
  async #listing(prefix: string): Promise<{ name: string; folder: boolean }[]> {
    try {
      const entries = await readdir(join(this.#root, prefix), { withFileTypes: true });
      return entries
        .filter(({ name }) => !name.startsWith('.'))
        .map((entry) => ({ name: entry.name, folder: entry.isDirectory() }))
        .toSorted((a, b) => compare(a.name + (a.folder ? '/' : ''), b.name + (b.folder ? '/' : '')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw this.#failed('list', prefix, error);
    }
  }

  /** Writes a file under a name of its own and has it placed; it, and its name, outlive a loss of power. */
  async #write(bytes: Uint8Array, place: (unfinished: string) => Promise<void>, path: string): Promise<void> {
    const unfinished = join(this.#root, UNFINISHED, randomUUID());
    await mkdir(dirname(unfinished), { recursive: true });
    await mkdir(dirname(path), { recursive: true });
    try {
      const file = await open(unfinished, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await place(unfinished);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
  }

  async #doing<T>(what: string, key: string, act: (path: string) => Promise<T>): Promise<T> {
    assertKey(key);
    try {
      return await act(join(this.#root, ...key.split('/')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT' && what !== 'write')
        throw new BlobNotFoundError(`There is no blob ${key} in ${this.url}.`);
      throw this.#failed(what, key, error);
    }
  }

  #failed(what: string, key: string, error: unknown): BlobStoreError {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return new BlobStoreError(`Cannot ${what} blob ${key} in ${this.url}: ${message}`, { cause: error });
  }
}

/** A store from `file:///var/lib/agents`. */
export function fileStore(url: URL): FileStore {
  return new FileStore(fileURLToPath(url));
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Not every system can: Windows opens no folder. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(codeOf(error) ?? '')) throw error;
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof BlobNotFoundError)) throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
