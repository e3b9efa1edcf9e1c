/** Where a graph has its state while it runs, in the process. */
import type { RunnableConfig } from '@langchain/core/runnables';
import { type Checkpoint, type CheckpointMetadata, MemorySaver } from '@langchain/langgraph';

/**
 * Of a graph within another, only the newest checkpoint: that is what it goes on from when its node is run again, and nobody
 * looks at the others, each of which would be a copy of its whole state.
 */
export class TaskSaver extends MemorySaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const answer = await super.put(config, checkpoint, metadata);
    const { thread_id: thread, checkpoint_ns: namespace } = answer.configurable as Record<string, string>;
    // A state that is kept as its changes is made of all of them.
    if (isOfTask(namespace!) && !('delta_writes_versioned' in metadata)) {
      const all = this.storage[thread!]![namespace!]!;
      for (const id of Object.keys(all)) {
        if (id === checkpoint.id) continue;
        delete all[id];
        delete this.writes[JSON.stringify([thread, namespace, id])];
      }
    }
    return answer;
  }
}

/** A task's namespace has the task's id, which follows from that of a checkpoint. */
export function isOfTask(namespace: string): boolean {
  return namespace.includes(':');
}
