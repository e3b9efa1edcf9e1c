/** Runs graphs of LangGraph durably, with their state and their store in memory. Importing this instruments LangGraph. */
export {
  type AgentParts,
  type Invocable,
  nodesAsSteps,
  runAgent,
  type RunAgentOptions,
  type ThreadOptions,
  toAgentTool,
  type WhenBusy,
} from '../langchain/index.ts';
export { MemoryCheckpointSaver, type MemoryCheckpointSaverOptions } from '../langchain/saver.ts';
export { MemoryItemStore, type MemoryItemStoreOptions } from '../langchain/item-store.ts';
