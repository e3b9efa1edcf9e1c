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
