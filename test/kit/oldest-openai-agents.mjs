/** Preloaded by worker processes of tests: `@openai/agents` is the oldest version that the adapter supports. */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.replace(/^@openai\/agents(?=$|\/)/, 'openai-agents-oldest'), context),
});
