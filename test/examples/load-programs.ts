/** Preloaded by worker processes: how programs are loaded that were written to be started by `node`. Their files stay as they are. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const openai = new URL('./openai-agents-js/', import.meta.url).href;
const langchain = new URL('./langchain-js/', import.meta.url).href;
const here = (name: string) => new URL(name, import.meta.url).href;
const stage = here('./langchain-stage.ts');

/** What is loaded in the stead of what, by the folder of who imports it. */
const stead: Record<string, Record<string, string>> = {
  [openai]: {
    'node:readline/promises': here('./stage.ts'),
    '@openai/agents': here('./counted-tools.ts'),
  },
  [langchain]: {
    '@langchain/core/tools': stage,
    '@langchain/community/tools/tavily_search': stage,
    '@elastic/elasticsearch': stage,
    '@langchain/community/vectorstores/elasticsearch': stage,
    '@langchain/mongodb': stage,
    mongodb: stage,
    '@langchain/pinecone': stage,
    '@pinecone-database/pinecone': stage,
    '@langchain/cohere': stage,
  },
};
const END = /^main\(\)\.catch\(/m;

registerHooks({
  resolve: (specifier, context, next) => {
    const [folder, own] = Object.entries(stead).find(([each]) => context.parentURL?.startsWith(each)) ?? [];
    // They were written for a compiler, which leaves names of files as they are.
    const named = folder === langchain ? specifier.replace(/^(\..*)\.js$/, '$1.ts') : specifier;
    return next(own?.[named] ?? named, context);
  },
  load: (url, context, next) => {
    if (url.startsWith(openai)) return { ...next(url, context), source: withEnd(url, sourceOf(url)) };
    if (!url.startsWith(langchain)) return next(url, context);
    const { code } = transformSync(withResult(sourceOf(url)), {
      filename: fileURLToPath(url),
      jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

function sourceOf(url: string): string {
  return readFileSync(new URL(url), 'utf8');
}

/** A program's last statement stays as it is; its promise gets a name. */
function withEnd(url: string, source: string): string {
  if (!END.test(source)) throw new Error(`Cannot tell when ${url} ends: it does not call main().catch().`);
  return source.replace(END, 'export const finished = main().catch(');
}

/** An example that says what it comes to has it read by who loads it. */
function withResult(source: string): string {
  const says = /^const result = /m.test(source) && !/^export /m.test(source);
  return says ? `${source}\nexport { result };\n` : source;
}
