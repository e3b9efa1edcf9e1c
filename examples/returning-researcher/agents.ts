/** A deep agent that comes back to its files: its notes stay with the case, what it learnt of the reader with the reader. */
import { CompositeBackend, StateBackend, StoreBackend } from 'deepagents';
import { agent } from 'temporal-agents';
import { runAgent } from 'temporal-agents/deepagents';
import { MemoryItemStore } from 'temporal-agents/langgraph';

export interface Visit {
  reader: string;
  /** What they work on together. */
  topic: string;
  says: string;
}

export const researcher = agent('researcher', async ({ reader, topic, says }: Visit) => {
  const learnt = new StoreBackend({ store: new MemoryItemStore(), namespace: [reader] });
  return await runAgent(says, {
    model: `openai:${process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini'}`,
    systemPrompt:
      'You help a reader with research. Keep notes in /notes.md. Write what you learn of the reader into /memories/AGENTS.md.',
    // Files elsewhere are part of the state, which comes back with the conversation.
    backend: new CompositeBackend(new StateBackend(), { '/memories/': learnt }),
    memory: ['/memories/AGENTS.md'],
    memoryKey: reader,
    conversation: topic,
  });
});
