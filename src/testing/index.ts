/** For tests of agents: a scripted provider of models, servers found by themselves, a worker that suits skipped time. */
export type {
  ProviderAnswer,
  ProviderApi,
  ProviderMessage,
  ProviderRequest,
  ProviderScript,
  ProviderUsage,
} from './scripted-provider/provider-script.ts';
export type { JournalEntry } from './scripted-provider/request-journal.ts';
export {
  startScriptedProvider,
  type ScriptedProvider,
  type ScriptedProviderOptions,
} from './scripted-provider/scripted-provider.ts';
export { createTestEnvironment, type TestEnvironmentOptions } from './test-environment.ts';
export { createTestWorker, type TestServerConnection, type TestWorkerOptions } from './test-worker.ts';
export * from '../servers/index.ts';
