/** Whole files or none: each is written under a name of its own, and then placed. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Under the root, where a file is written before it gets its name; no key begins with a dot. */
const UNFINISHED = '.unfinished';
/** A file that has been unfinished for so long is of a process that died: no write takes a day. */
const ABANDONED_AFTER_MS = 86_400_000;
/** How often a folder is made again that another process, which saw it empty, removed. */
const FOLDER_ATTEMPTS = 20;

/** Writes files under a root so that they, and their names, outlive a loss of power. */
export class FileWriter {
  readonly #unfinished: string;
  #swept = false;

  constructor(root: string) {
    this.#unfinished = join(root, UNFINISHED);
  }

  /** Writes a file, over what may be there. */
  async replace(path: string, bytes: Uint8Array): Promise<void> {
    await this.#write(path, bytes, async (unfinished) => await rename(unfinished, path));
  }

  /** Writes a file if there is none; answers whether it did. */
  async create(path: string, bytes: Uint8Array): Promise<boolean> {
    if (await isFile(path)) {
      // Its writer may not have come so far yet, and the caller builds on it.
      await syncFolder(dirname(path));
      return false;
    }
    let created = true;
    await this.#write(path, bytes, async (unfinished) => {
      try {
        // Unlike a rename, a link never replaces.
        await link(unfinished, path);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
        // Over NFS an answer may be lost, and the call that is sent again finds its own link.
        created = (await stat(unfinished)).nlink > 1;
      }
    });
    return created;
  }

  async #write(path: string, bytes: Uint8Array, place: (unfinished: string) => Promise<void>): Promise<void> {
    await this.#prepare();
    const unfinished = join(this.#unfinished, randomUUID());
    try {
      const file = await open(unfinished, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#inItsFolder(path, async () => await place(unfinished));
      await syncFolder(dirname(path));
    } finally {
      await rm(unfinished, { force: true }).catch(() => {});
    }
  }

  async #inItsFolder(path: string, place: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await makeFolder(dirname(path));
        await place();
        return;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || attempt === FOLDER_ATTEMPTS) throw error;
      }
    }
  }

  /** Makes the folder of unfinished files; the first time, what dead processes left in it goes. */
  async #prepare(): Promise<void> {
    await makeFolder(this.#unfinished);
    if (this.#swept) return;
    this.#swept = true;
    for (const name of await readdir(this.#unfinished)) {
      const path = join(this.#unfinished, name);
      const found = await stat(path).catch(() => undefined);
      if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS)
        await rm(path, { force: true }).catch(() => {});
    }
  }
}

/** Makes a folder with those above it, each of which outlives a loss of power. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Makes what was placed in a folder, or removed from it, last. Not every system can: Windows opens no folder. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    // Gone again, with what was in it; or made by another process that removed it.
    if (!['ENOENT', 'EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(codeOf(error) ?? '')) throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (found.isFile()) return true;
    throw Object.assign(new Error(`${path} is a folder of other blobs`), { code: 'EISDIR' });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The code of a system error. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
