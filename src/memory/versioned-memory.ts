import { ConcurrencyError } from '../errors/index.ts';
import { type Content, jsonContent, parseJson, textContent } from './content.ts';
import type { Conversation } from './conversation.ts';
import type { Memory, MemoryContent, MemoryVersion, MemoryWriteOptions } from './memory.ts';
import { assertMemoryPath } from './memory-path.ts';
import { ofStep, said, type User } from './user.ts';
import { VersionedConversation } from './versioned-conversation.ts';
import type { Versions } from './versions.ts';

const MAX_TRIES = 20;

/** Memory over the versions of one key. */
export class VersionedMemory implements Memory {
  readonly #versions: Versions;
  readonly #user: User;

  constructor(versions: Versions, user: User) {
    this.#versions = versions;
    this.#user = user;
  }

  async readJson<T = unknown>(path: string): Promise<T | undefined> {
    assertMemoryPath(path);
    return await this.#user.use({ what: 'readJson', path }, async () => {
      const text = (await this.#versions.newestOf(path))?.text;
      return text === undefined ? undefined : (parseJson(path, text) as T);
    });
  }

  async readText(path: string): Promise<string | undefined> {
    assertMemoryPath(path);
    return await this.#user.use(
      { what: 'readText', path },
      async () => (await this.#versions.newestOf(path))?.text,
    );
  }

  async read(path: string): Promise<MemoryContent | undefined> {
    assertMemoryPath(path);
    return await this.#user.use({ what: 'read', path }, async () => {
      const newest = await this.#versions.newestOf(path);
      return newest?.deleted ? undefined : newest;
    });
  }

  async readAt(path: string, version: number): Promise<MemoryContent | undefined> {
    assertMemoryPath(path);
    const use = { what: 'readAt', path, request: { version } };
    return await this.#user.use(use, async () => await this.#versions.at(path, version));
  }

  async writeJson(path: string, value: unknown, options: MemoryWriteOptions): Promise<MemoryVersion> {
    assertMemoryPath(path);
    return (await this.#write(path, jsonContent(path, value), options))!;
  }

  async writeText(path: string, text: string, options: MemoryWriteOptions): Promise<MemoryVersion> {
    assertMemoryPath(path);
    return (await this.#write(path, textContent(path, text), options))!;
  }

  async updateJson<T>(
    path: string,
    change: (current: T | undefined) => T,
    options: Omit<MemoryWriteOptions, 'expectedSha'>,
  ): Promise<MemoryVersion> {
    for (let tries = 1; ; tries++) {
      const there = await this.read(path);
      const current = there && (parseJson(path, there.text!) as T);
      try {
        return await this.writeJson(path, change(current), {
          ...options,
          expectedSha: there?.sha256 ?? null,
        });
      } catch (error) {
        if (!(error instanceof ConcurrencyError) || tries === MAX_TRIES) throw error;
      }
    }
  }

  async delete(path: string, options: MemoryWriteOptions): Promise<MemoryVersion | undefined> {
    assertMemoryPath(path);
    return await this.#write(path, undefined, options);
  }

  async list(prefix = ''): Promise<string[]> {
    return await this.#user.use({ what: 'list', request: { prefix } }, async () => {
      const paths: string[] = [];
      for await (const { path, deleted } of this.#versions.newest())
        if (!deleted && path.startsWith(prefix)) paths.push(path);
      return paths.toSorted();
    });
  }

  async history(path: string, { limit = Infinity }: { limit?: number } = {}): Promise<MemoryVersion[]> {
    assertMemoryPath(path);
    return await this.#user.use({ what: 'history', path, request: { limit: String(limit) } }, async () => {
      const versions: MemoryVersion[] = [];
      if (limit < 1) return versions;
      for await (const { text: _text, ...version } of this.#versions.of(path)) {
        versions.push(version);
        if (versions.length >= limit) break;
      }
      return versions;
    });
  }

  conversation<Item = unknown>(id?: string): Conversation<Item> {
    return new VersionedConversation<Item>(this.#versions, this.#user, id);
  }

  async #write(
    path: string,
    content: Content | undefined,
    options: MemoryWriteOptions,
  ): Promise<MemoryVersion | undefined> {
    const { run, actor: user } = this.#user;
    const what = content ? 'write' : 'delete';
    const { expectedSha } = options ?? {};
    const actor = said(`Cannot ${what} ${path}`, 'actor', options?.actor ?? user);
    const reason = said(`Cannot ${what} ${path}`, 'reason', options?.reason);
    const request = { sha256: content?.sha256, expectedSha };
    return await this.#user.use({ what, path, request }, async (attempt, step) => {
      const draft = {
        actor,
        reason,
        expectedSha,
        ...(content && { content }),
        ...ofStep(run, step),
      };
      return await this.#versions.write(path, draft, attempt);
    });
  }
}
