/**
 * The checkpoints of a graph's state. Each is one version, newest first, and says of every channel what it holds: a small
 * value stands in it, a large one is kept in parts named by what is in them, so that what did not change is not stored again.
 */
import { sha256 } from '../blobs/sha256.ts';
import { ConcurrencyError, MemoryPathError } from '../errors/index.ts';
import type {
  CheckpointOf,
  CheckpointQuery,
  Encoded,
  KeptCheckpoint,
  KeptWrite,
  NewCheckpoint,
  NewWrites,
} from './checkpoint.ts';
import { jsonContent } from './content.ts';
import type { StoredItems } from './conversation-blocks.ts';
import { ConversationParts } from './conversation-parts.ts';
import { forkId, segment } from './memory-path.ts';
import { ofStep, said, type User } from './user.ts';
import type { Attempt, Draft, Versions } from './versions.ts';

/** A value in a record: a list in items, so that one that grows keeps its parts; anything else is one item. */
interface StoredValue {
  version: string | number;
  type: string;
  list?: true;
  stored: StoredItems;
}

interface Stored extends Omit<NewCheckpoint, 'kind' | 'versions' | 'values'> {
  values: Record<string, StoredValue>;
}
type StoredWrites = Omit<NewWrites, 'kind' | 'namespace' | 'id'>;
type Said = Pick<Draft, 'actor' | 'reason' | 'run'>;

/** Bytes of a value that stand in the checkpoint itself, and are written with each that has it. */
const INLINE_BYTES = 4096;
/** Which threads and namespaces there are, a version each. */
const INDEX = 'threads';

/** The checkpoints of one thread of a key. */
export class CheckpointThread {
  readonly thread: string;
  readonly #versions: Versions;
  readonly #user: User;
  readonly #parts: ConversationParts;

  constructor(versions: Versions, user: User, thread: string) {
    assertThread(thread);
    this.thread = thread;
    this.#versions = versions;
    this.#user = user;
    this.#parts = new ConversationParts(versions, `${pathOf(thread)}/parts`);
  }

  /** One checkpoint. */
  async read(of: CheckpointOf): Promise<KeptCheckpoint | undefined> {
    return await this.#use('readThread', of, async () => {
      for await (const { version, stored } of this.#stored(of.namespace))
        if (of.id === undefined || stored.id === of.id) return await this.#kept(stored, version);
      return undefined;
    });
  }

  /** Checkpoints, in each namespace the newest first. */
  async list(query: CheckpointQuery): Promise<KeptCheckpoint[]> {
    return await this.#use('listThread', query, async () => {
      const { namespace, id, before, filter = {}, limit = Infinity } = query;
      const found: KeptCheckpoint[] = [];
      const seen = new Set<string>();
      for (const each of namespace === undefined ? await this.#namespaces() : [namespace]) {
        for await (const { version, stored } of this.#stored(each)) {
          if (found.length >= limit) return found;
          const name = JSON.stringify([each, stored.id]);
          if (seen.has(name) || (id !== undefined && stored.id !== id)) continue;
          seen.add(name);
          if (before !== undefined && stored.id >= before) continue;
          if (hasFields(stored.metadata, filter)) found.push(await this.#kept(stored, version));
        }
      }
      return found;
    });
  }

  /**
   * Keeps checkpoints and writes, in this order, and answers with the thread and the last checkpoint's id.
   * @param as what tells this from other uses of the run
   * @param orForkAt version of the newest checkpoint that is known: if there is another, all goes into a new thread, whose
   *   name is answered
   */
  async keep(
    changes: readonly (NewCheckpoint | NewWrites)[],
    as: unknown,
    orForkAt?: number,
  ): Promise<{ thread: string; id?: string }> {
    const { run, actor: user } = this.#user;
    const actor = said(`Cannot keep thread ${this.thread}`, 'actor', user);
    return await this.#use('keepThread', { as, orForkAt }, async (attempt, step) => {
      const by = { actor, ...ofStep(run, step) };
      const last = changes.findLast(({ kind }) => kind === 'checkpoint');
      const id = last && { id: last.id };
      try {
        await this.#keepAll(changes, by, attempt, orForkAt);
        return { thread: this.thread, ...id };
      } catch (error) {
        if (!(error instanceof ConcurrencyError) || orForkAt === undefined) throw error;
        // The same for every attempt of this write, and for no other.
        const fork = new CheckpointThread(
          this.#versions,
          this.#user,
          forkId(this.thread, sha256(attempt.id)),
        );
        await fork.#keepAll(changes, by, attempt);
        return { thread: fork.thread, ...id };
      }
    });
  }

  /** Whether the run goes on after it kept something as this, in that scope. */
  goesOnAfter(as: unknown, scope: string): boolean {
    const use = { what: 'keepThread', path: pathOf(this.thread), request: { as } };
    return this.#user.goOnAfter?.(use, scope) === true;
  }

  /** Has all of it read as if it were not there; the history stays. */
  async delete(): Promise<void> {
    const { run, actor: user } = this.#user;
    const actor = said(`Cannot delete thread ${this.thread}`, 'actor', user);
    await this.#use('deleteThread', {}, async (attempt, step) => {
      const by = { actor, reason: 'delete', ...ofStep(run, step) };
      for (const namespace of await this.#namespaces()) {
        const ids = new Set<string>();
        for await (const { stored } of this.#stored(namespace)) ids.add(stored.id);
        for (const path of [...[...ids].map((id) => this.#writesPath(namespace, id)), this.#path(namespace)])
          await this.#versions.write(path, by, { ...attempt, id: `${attempt.id}/${path}` });
      }
    });
  }

  async #keepAll(
    changes: readonly (NewCheckpoint | NewWrites)[],
    by: Pick<Draft, 'actor' | 'run'>,
    attempt: Attempt,
    expected?: number,
  ): Promise<void> {
    let expectedVersion = expected;
    const counts = { checkpoint: 0, writes: 0 };
    for (const change of changes) {
      const { kind, namespace, id } = change;
      // Another attempt may have other writes, and the same checkpoints.
      const own = { ...attempt, id: `${attempt.id}/${kind} ${++counts[kind]}` };
      const why = { ...by, reason: kind === 'writes' ? `writes after ${id}` : `checkpoint ${id}` };
      if (kind === 'writes') {
        await this.#keepWrites(change, why, own);
      } else {
        const expects = namespace === '' ? expectedVersion : undefined;
        if (namespace === '') expectedVersion = undefined;
        await this.#keepCheckpoint(change, why, own, expects);
      }
    }
  }

  async #keepCheckpoint(
    { kind: _kind, versions, values, ...rest }: NewCheckpoint,
    why: Said,
    attempt: Attempt,
    expectedVersion: number | undefined,
  ): Promise<void> {
    const { namespace, parentId } = rest;
    let isNew = true;
    let parent: Stored | undefined;
    for await (const { stored } of this.#stored(namespace)) {
      isNew = false;
      if (stored.id === parentId) parent = stored;
      if (parent || parentId === undefined) break;
    }
    if (isNew) await this.#addToIndex(namespace, why, attempt);
    const kept: Stored['values'] = {};
    for (const [channel, version] of Object.entries(versions)) {
      const before = parent?.values[channel];
      if (values[channel]) {
        const known = new Set(before?.stored.groups?.flat());
        kept[channel] = { version, ...(await this.#store(values[channel], known, why, attempt)) };
      } else if (before?.version === version) kept[channel] = before;
    }
    const path = this.#path(namespace);
    await this.#write(path, { ...rest, values: kept } satisfies Stored, { ...why, expectedVersion }, attempt);
  }

  async #keepWrites(
    { namespace, id, task, taskPath, writes }: NewWrites,
    why: Said,
    attempt: Attempt,
  ): Promise<void> {
    const path = this.#writesPath(namespace, id);
    await this.#write(path, { task, taskPath, writes } satisfies StoredWrites, why, attempt);
  }

  async #write(path: string, value: object, draft: Omit<Draft, 'content'>, attempt: Attempt): Promise<void> {
    const stored = await this.#parts.store([JSON.stringify(value)], {}, draft, attempt);
    await this.#versions.write(path, { ...draft, content: jsonContent(path, stored) }, attempt);
  }

  async #addToIndex(namespace: string, why: Said, attempt: Attempt): Promise<void> {
    const content = jsonContent(INDEX, { thread: this.thread, namespace });
    await this.#versions.write(INDEX, { ...why, content }, { ...attempt, id: `${attempt.id}/index` });
  }

  async #store(
    value: Encoded,
    known: ReadonlySet<string>,
    why: Said,
    attempt: Attempt,
  ): Promise<Omit<StoredValue, 'version'>> {
    const { type, text } = value;
    const list = type === 'json' && text.startsWith('[') && text.length > INLINE_BYTES;
    const items = list ? (JSON.parse(text) as unknown[]).map((item) => JSON.stringify(item)) : [text];
    // Texts of texts: what is in them stays as it is, to the order of its fields.
    const texts = items.map((item) => JSON.stringify(item));
    const stored = await this.#parts.store(texts, { inline: INLINE_BYTES, known }, why, attempt);
    return { type, ...(list && { list }), stored };
  }

  async #kept(stored: Stored, version: number): Promise<KeptCheckpoint> {
    const values = Object.entries(stored.values).map(async ([channel, { type, list, stored: items }]) => {
      const texts = (await this.#parts.load(items)) as string[];
      return [channel, { type, text: list ? `[${texts.join(',')}]` : texts[0]! }] as const;
    });
    return {
      ...stored,
      values: Object.fromEntries(await Promise.all(values)),
      writes: await this.#writesOf(stored),
      version,
    };
  }

  async #writesOf({ namespace, id }: Stored): Promise<KeptWrite[]> {
    const all = new Map<string, KeptWrite>();
    // Newest first, so what comes later was earlier.
    for await (const { value } of this.#values(this.#writesPath(namespace, id))) {
      const { task, taskPath, writes } = value as StoredWrites;
      for (const { index, ...write } of writes) {
        const name = `${index} ${task}`;
        if (index >= 0 || !all.has(name)) all.set(name, { task, taskPath, index, ...write });
      }
    }
    return [...all.values()];
  }

  async *#stored(namespace: string): AsyncIterable<{ version: number; stored: Stored }> {
    for await (const { version, value } of this.#values(this.#path(namespace)))
      yield { version, stored: value as Stored };
  }

  /** What a path has had since it was last deleted, newest first. */
  async *#values(path: string): AsyncIterable<{ version: number; value: unknown }> {
    for await (const { version, text } of this.#versions.of(path)) {
      if (text === undefined) return;
      const [value] = await this.#parts.load(JSON.parse(text) as StoredItems);
      yield { version, value };
    }
  }

  async #namespaces(): Promise<string[]> {
    const all = (await threadsIn(this.#versions)).filter(({ thread }) => thread === this.thread);
    return [...new Set(all.map(({ namespace }) => namespace))].toSorted();
  }

  #path(namespace: string): string {
    return `${pathOf(this.thread)}/checkpoints${namespace === '' ? '' : `/${segment(namespace)}`}`;
  }

  #writesPath(namespace: string, id: string): string {
    return `${pathOf(this.thread)}/writes/${segment(namespace)}/${segment(id)}`;
  }

  async #use<T>(what: string, request: object, act: (attempt: Attempt, step?: string) => Promise<T>) {
    return await this.#user.use({ what, path: pathOf(this.thread), request }, act);
  }
}

/** The names of all threads of a key, the newest first. */
export async function threadNames(versions: Versions, user: User): Promise<string[]> {
  return await user.use({ what: 'listThreads', path: INDEX }, async () => {
    const all = await threadsIn(versions);
    return [...new Set(all.map(({ thread }) => thread))];
  });
}

async function threadsIn(versions: Versions): Promise<{ thread: string; namespace: string }[]> {
  const all: { thread: string; namespace: string }[] = [];
  for await (const { text } of versions.of(INDEX))
    if (text !== undefined) all.push(JSON.parse(text) as { thread: string; namespace: string });
  return all;
}

/** Refuses what cannot be told from other threads. @throws MemoryPathError */
function assertThread(thread: unknown): asserts thread is string {
  if (typeof thread === 'string' && thread !== '' && thread.length <= 300 && thread.isWellFormed()) return;
  throw new MemoryPathError(
    `Cannot use thread ${JSON.stringify(thread)?.slice(0, 100)}: its id must be a text of 1 to 300 characters.`,
  );
}

function pathOf(thread: string): string {
  return `threads/${segment(thread)}`;
}

function hasFields({ type, text }: Encoded, filter: Record<string, unknown>): boolean {
  const fields = type === 'json' ? (JSON.parse(text) as Record<string, unknown>) : {};
  return Object.entries(filter).every(
    ([name, value]) => JSON.stringify(fields[name]) === JSON.stringify(value),
  );
}
