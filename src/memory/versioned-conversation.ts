import { ConcurrencyError } from '../errors/index.ts';
import { sha256 } from '../blobs/sha256.ts';
import { jsonContent } from './content.ts';
import type { Conversation, ConversationFork, ConversationState, ConversationWrite } from './conversation.ts';
import { apply, type Block, plan, type Snapshot } from './conversation-blocks.ts';
import { ConversationParts, GROUP_BYTES, itemTexts } from './conversation-parts.ts';
import { assertConversationId, forkId } from './memory-path.ts';
import { ofStep, said, type User } from './user.ts';
import type { Attempt, Draft, Versions } from './versions.ts';

/** After so many writes what is there is kept as a whole, so that a read looks at no more of them. */
const SNAPSHOT_EVERY = 16;

/** Who writes, and why; the same for all that one write needs. */
type Said = Pick<Draft, 'actor' | 'reason' | 'run'>;

/** A conversation over the versions of one path. Parts of large blocks and snapshots are at paths beside it. */
export class VersionedConversation<Item = unknown> implements Conversation<Item> {
  readonly id: string;
  readonly #path: string;
  readonly #versions: Versions;
  readonly #user: User;
  readonly #parts: ConversationParts;

  constructor(versions: Versions, user: User, id = 'main') {
    assertConversationId(id);
    this.id = id;
    this.#path = `conversations/${id}`;
    this.#versions = versions;
    this.#user = user;
    this.#parts = new ConversationParts(versions, `${this.#path}.parts`);
  }

  async read(): Promise<ConversationState<Item>> {
    return await this.#user.use({ what: 'readConversation', path: this.#path }, async () => {
      const { items, version } = await this.stateAt();
      return { items: items as Item[], version };
    });
  }

  async append(items: readonly Item[], { orForkAt }: ConversationFork = {}): Promise<ConversationWrite> {
    const texts = itemTexts(items, this.#path);
    const what = `add ${texts.length} ${texts.length === 1 ? 'item' : 'items'}`;
    return await this.#write(what, { texts, orForkAt }, async (reason, attempt) => {
      if (texts.length === 0) return { id: this.id, version: (await this.stateAt()).version };
      const stored = await this.#parts.store(texts, {}, reason, attempt);
      const fork = { from: { id: this.id, version: orForkAt ?? 0 } };
      return await this.#put({ kind: 'add', stored }, reason, attempt, orForkAt, async (own) => ({
        kind: 'fork',
        ...fork,
        stored: await own.#parts.store(texts, {}, reason, attempt),
      }));
    });
  }

  async pop(): Promise<Item | undefined> {
    const reason = 'take the last item away';
    return await this.#write(reason, {}, async (why, attempt) => {
      const { version } = await this.#put({ kind: 'pop' }, why, attempt);
      return (await this.stateAt(version - 1)).items.at(-1) as Item | undefined;
    });
  }

  async clear(): Promise<ConversationWrite> {
    return await this.#write('take all items away', {}, async (why, attempt) => {
      return await this.#put({ kind: 'clear' }, why, attempt);
    });
  }

  async replace(
    items: readonly Item[],
    readVersion: number,
    { fork = false }: { fork?: boolean } = {},
  ): Promise<ConversationWrite> {
    const texts = itemTexts(items, this.#path);
    return await this.#write('replace items', { texts, readVersion, fork }, async (why, attempt) => {
      const stored = await this.#parts.store(texts, {}, why, attempt);
      const block: Block = { kind: 'replace', stored, upTo: readVersion };
      return await this.#put(block, why, attempt, fork ? readVersion : undefined, async (own) => ({
        kind: 'add',
        stored: await own.#parts.store(texts, {}, why, attempt),
      }));
    });
  }

  /** What there was at a version. @internal */
  async stateAt(until = Infinity): Promise<{ items: unknown[]; version: number }> {
    const snapshot = await this.#snapshotBefore(until);
    let version = 0;
    const blocks = this.#blocks(until);
    const seen = async function* () {
      for await (const each of blocks) {
        version = Math.max(version, each.version);
        yield each;
      }
    };
    const { base, blocks: later } = await plan(seen(), snapshot);
    const load = async (stored: Snapshot['stored']) => await this.#parts.load(stored);
    let items: unknown[] = [];
    if (base && 'from' in base) ({ items } = await this.#other(base.from.id).stateAt(base.from.version));
    else if (base) items = await load(base.stored);
    for (const block of later) items = await apply(items, block, load);
    return { items, version };
  }

  async #write<T>(
    why: string,
    request: { texts?: readonly string[]; [field: string]: unknown },
    act: (said: Said, attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const { run, actor: user } = this.#user;
    const actor = said(`Cannot write ${this.#path}`, 'actor', user);
    const { texts, ...rest } = request;
    const of = { why, ...(texts && { sha256: sha256(texts.join()) }), ...rest };
    const use = { what: 'writeConversation', path: this.#path, request: of };
    return await this.#user.use(use, async (attempt, step) => {
      const reason = { actor, reason: why, ...ofStep(run, step) };
      return await act(reason, attempt);
    });
  }

  /** Writes a block; into a fork, if it is one and `expected` is not the newest version. */
  async #put(
    block: Block,
    why: Said,
    attempt: Attempt,
    expected?: number,
    forked?: (own: VersionedConversation) => Promise<Block>,
  ): Promise<ConversationWrite> {
    try {
      const draft = { ...why, content: jsonContent(this.#path, block), expectedVersion: expected };
      const { version } = (await this.#versions.write(this.#path, draft, attempt))!;
      if (version % SNAPSHOT_EVERY === 0) await this.#keepSnapshot(version, why, attempt);
      return { id: this.id, version };
    } catch (error) {
      if (!(error instanceof ConcurrencyError) || !forked) throw error;
      // The same for every attempt of this write, and for no other.
      const own = this.#other(forkId(this.id, sha256(attempt.id)));
      return await own.#put(await forked(own), why, attempt);
    }
  }

  async #keepSnapshot(upTo: number, { actor, run }: Said, attempt: Attempt): Promise<void> {
    const { items } = await this.stateAt(upTo);
    const why = { actor, reason: `all as of version ${upTo}`, ...(run && { run }) };
    const known = new Set((await this.#snapshotBefore(upTo))?.stored.groups?.flat());
    const how = { inline: GROUP_BYTES, known };
    const stored = await this.#parts.store(itemTexts(items, this.#path), how, why, attempt);
    const content = jsonContent(this.#snapshots, { stored, upTo } satisfies Snapshot);
    await this.#versions.write(this.#snapshots, { ...why, content }, { ...attempt, id: `${attempt.id}/all` });
  }

  async #snapshotBefore(until: number): Promise<Snapshot | undefined> {
    for await (const { text } of this.#versions.of(this.#snapshots)) {
      const snapshot = text === undefined ? undefined : (JSON.parse(text) as Snapshot);
      if (snapshot && snapshot.upTo <= until) return snapshot;
    }
    return undefined;
  }

  async *#blocks(until: number): AsyncIterable<{ version: number; block: Block }> {
    for await (const { version, text } of this.#versions.of(this.#path)) {
      // A deletion, as of any path.
      if (version <= until)
        yield { version, block: text === undefined ? { kind: 'clear' } : (JSON.parse(text) as Block) };
    }
  }

  get #snapshots(): string {
    return `${this.#path}.snapshots`;
  }

  #other(id: string): VersionedConversation {
    return new VersionedConversation(this.#versions, this.#user, id);
  }
}
