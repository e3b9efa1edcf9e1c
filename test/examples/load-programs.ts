/** Preloaded by worker processes: how programs are loaded that were written to be started by `node`. Their files stay as they are. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const folder = new URL('./openai-agents-js/', import.meta.url).href;
const stead: Record<string, string> = {
  'node:readline/promises': new URL('./stage.ts', import.meta.url).href,
  '@openai/agents': new URL('./counted-tools.ts', import.meta.url).href,
};
const END = /^main\(\)\.catch\(/m;

registerHooks({
  resolve: (specifier, context, next) =>
    next(context.parentURL?.startsWith(folder) ? (stead[specifier] ?? specifier) : specifier, context),
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.startsWith(folder)) return loaded;
    const source = readFileSync(new URL(url), 'utf8');
    if (!END.test(source)) throw new Error(`Cannot tell when ${url} ends: it does not call main().catch().`);
    // Its last statement stays as it is; its promise gets a name.
    return { ...loaded, source: source.replace(END, 'export const finished = main().catch(') };
  },
});
