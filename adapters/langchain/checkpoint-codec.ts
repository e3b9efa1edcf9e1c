/** LangGraph's checkpoints as memory keeps them, and back; all values by LangGraph's own serializer. */
import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  BaseCheckpointSaver,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from '@langchain/langgraph';
import type {
  Encoded,
  KeptCheckpoint,
  KeptWrite,
  NewCheckpoint,
  NewWrites,
} from '../../src/memory/checkpoint.ts';

/** LangGraph's serializer. */
export type Serde = BaseCheckpointSaver['serde'];
type Write = [channel: string, value: unknown];
type Versions = Checkpoint['channel_versions'];

/** Where LangGraph has tasks that are to be sent. */
const TASKS = '__pregel_tasks';
/** Writes that are no plain ones; of each a task has one, and the last one counts. */
const SPECIAL: Record<string, number> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** @param values of which channels the values are kept */
export async function encodeCheckpoint(
  serde: Serde,
  where: { namespace: string; parentId?: string | undefined },
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  channels: readonly string[],
): Promise<NewCheckpoint> {
  const { channel_values: values, ...body } = checkpoint;
  const own = channels.filter((channel) => Object.hasOwn(values, channel));
  const encoded = own.map(async (channel) => [channel, await encode(serde, values[channel])] as const);
  const { namespace, parentId } = where;
  return {
    kind: 'checkpoint',
    namespace,
    id: checkpoint.id,
    ...(parentId !== undefined && { parentId }),
    body: await encode(serde, body),
    metadata: await encode(serde, metadata),
    versions: checkpoint.channel_versions,
    values: Object.fromEntries(await Promise.all(encoded)),
  };
}

export async function encodeWrites(
  serde: Serde,
  where: { namespace: string; id: string },
  writes: readonly Write[],
  task: string,
  taskPath = '',
): Promise<NewWrites> {
  const encoded = writes.map(async ([channel, value], i) => ({
    index: SPECIAL[channel] ?? i,
    channel,
    value: await encode(serde, value),
  }));
  return { kind: 'writes', ...where, task, taskPath, writes: await Promise.all(encoded) };
}

/** @param writesOf the writes of another checkpoint: those of version 3 leave what is to be sent to the one before */
export async function decodeCheckpoint(
  serde: Serde,
  thread: string,
  kept: KeptCheckpoint,
  writesOf: (of: { namespace: string; id: string }) => Promise<KeptWrite[]>,
): Promise<CheckpointTuple> {
  const { namespace, id, parentId, body, metadata, values, writes } = kept;
  const at = (checkpoint: string): RunnableConfig => ({
    configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpoint },
  });
  const decoded = Object.entries(values).map(
    async ([channel, value]) => [channel, await decode(serde, value)] as const,
  );
  const checkpoint = {
    ...((await decode(serde, body)) as Checkpoint),
    channel_values: Object.fromEntries(await Promise.all(decoded)),
  } as Checkpoint;
  if (checkpoint.v < 4 && parentId !== undefined) {
    const before = await writesOf({ namespace, id: parentId });
    const sends = inOrder(before).filter(({ channel }) => channel === TASKS);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(async ({ value }) => await decode(serde, value)),
    );
    checkpoint.channel_versions[TASKS] = newest(checkpoint.channel_versions) ?? 1;
  }
  const pending = inOrder(writes).map(
    async ({ task, channel, value }) =>
      [task, channel, await decode(serde, value)] as [string, string, unknown],
  );
  return {
    config: at(id),
    checkpoint,
    metadata: (await decode(serde, metadata)) as CheckpointMetadata,
    pendingWrites: await Promise.all(pending),
    ...(parentId !== undefined && { parentConfig: at(parentId) }),
  };
}

/** Writes as tasks made them, those of a task in its order. */
export async function decodeWrites(
  serde: Serde,
  kept: readonly KeptWrite[],
): Promise<{ task: string; taskPath: string; writes: Write[] }[]> {
  const byTask = Map.groupBy(inOrder(kept), ({ task, taskPath }) => JSON.stringify([task, taskPath]));
  const all = [...byTask.values()].map(async (own) => ({
    task: own[0]!.task,
    taskPath: own[0]!.taskPath,
    writes: await Promise.all(
      own.map(async ({ channel, value }): Promise<Write> => [channel, await decode(serde, value)]),
    ),
  }));
  return await Promise.all(all);
}

/** Writes in the order in which LangGraph applies those of one superstep. */
function inOrder(writes: readonly KeptWrite[]): KeptWrite[] {
  return writes.toSorted(
    (a, b) => byCodePoint(a.taskPath, b.taskPath) || byCodePoint(a.task, b.task) || a.index - b.index,
  );
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function newest(versions: Versions): string | number | undefined {
  return Object.values(versions).reduce<string | number | undefined>(
    (best, version) => (best === undefined || isNewer(version, best) ? version : best),
    undefined,
  );
}

async function encode(serde: Serde, value: unknown): Promise<Encoded> {
  const [type, bytes] = await serde.dumpsTyped(value);
  return { type, text: Buffer.from(bytes).toString(type === 'json' ? 'utf8' : 'base64') };
}

async function decode(serde: Serde, { type, text }: Encoded): Promise<unknown> {
  return (await serde.loadsTyped(type, type === 'json' ? text : Buffer.from(text, 'base64'))) as unknown;
}

function isNewer(a: string | number, b: string | number): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a > b : String(a).localeCompare(String(b)) > 0;
}
