/** Agents as durable Temporal workflows. Loads no framework and not `@temporalio/worker`. */
export { agent, type Agent, type AgentContext, type AgentOptions } from './agent.ts';
export { tool } from './tools/tool.ts';
export type { Tool, ToolChanges, ToolContext, ToolDecorator, ToolOptions } from './tools/tool-options.ts';
export type { ApprovalOptions, ApprovalPrompt, ApprovalRule, Escalation } from './tools/approval-rule.ts';
export type { CacheOptions, CacheRule } from './tools/cache-rule.ts';
export { ask, type AskOptions } from './ask.ts';
export { inbox, type NextMessageOptions } from './inbox.ts';
export { sleep, step, type StepCallOptions } from './step.ts';
export { memory } from './memory/run-memory.ts';
export { MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts';
export type {
  Conversation,
  ConversationFork,
  ConversationState,
  ConversationWrite,
} from './memory/conversation.ts';
export type { Memory, MemoryContent, MemoryVersion, MemoryWriteOptions } from './memory/memory.ts';
export type { BlobEntry, BlobStore } from './blobs/blob-store.ts';
export { nonCancellable } from './loop/current-loop.ts';
export * from './client/index.ts';
export type {
  AnswerBlob,
  CachedFrom,
  OnUncertain,
  StepFailure,
  StepKind,
  StepRecord,
} from './protocol/step.ts';
export type { Amounts, Budget, BudgetLimits, BudgetState } from './protocol/budget.ts';
export { addUsage, type RunUsage, type Spent, type Usage } from './protocol/usage.ts';
export type { JsonSchema, Schema } from './tools/schema.ts';
export * from './errors/index.ts';
