/** Checkpoints of a graph's state, as a framework hands them to memory and has them back. Types only. */

/** A value as the framework's serializer gives it: JSON, or other bytes as base64. */
export interface Encoded {
  type: string;
  text: string;
}

/** Which checkpoints of a thread; without `id` the newest. */
export interface CheckpointOf {
  namespace: string;
  id?: string;
}

/** A checkpoint to be kept. */
export interface NewCheckpoint {
  kind: 'checkpoint';
  namespace: string;
  id: string;
  parentId?: string;
  /** Without the values of its channels. */
  body: Encoded;
  metadata: Encoded;
  /** The version of each channel. Of one that has no new value, the parent's of the same version stays. */
  versions: Record<string, string | number>;
  values: Record<string, Encoded>;
}

/** What the tasks after a checkpoint wrote. */
export interface NewWrites {
  kind: 'writes';
  namespace: string;
  id: string;
  task: string;
  taskPath: string;
  writes: { index: number; channel: string; value: Encoded }[];
}

/** One write of a task. */
export interface KeptWrite {
  task: string;
  taskPath: string;
  index: number;
  channel: string;
  value: Encoded;
}

/** A checkpoint as it is read. */
export interface KeptCheckpoint {
  namespace: string;
  id: string;
  parentId?: string;
  body: Encoded;
  metadata: Encoded;
  values: Record<string, Encoded>;
  /** In no order; of two by the same task with the same index from 0 on the first, else the last. */
  writes: KeptWrite[];
  /** Number of its version: the newest of its namespace has the highest. */
  version: number;
}

/** What to list. */
export interface CheckpointQuery {
  /** @default all */
  namespace?: string;
  id?: string;
  /** Only those whose id is smaller. */
  before?: string;
  /** What fields of the metadata must be. */
  filter?: Record<string, unknown>;
  limit?: number;
}
