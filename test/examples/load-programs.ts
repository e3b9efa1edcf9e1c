/** Preloaded by worker processes: how programs are loaded that were written for a compiler. Their files stay as they are. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const programs = new URL('./langchain-js/', import.meta.url).href;
const stage = new URL('./langchain-stage.ts', import.meta.url).href;

/** What the programs import, and the stage stands in for. */
const STAGED = new Set([
  '@langchain/core/tools',
  '@langchain/community/tools/tavily_search',
  '@elastic/elasticsearch',
  '@langchain/community/vectorstores/elasticsearch',
  '@langchain/mongodb',
  'mongodb',
  '@langchain/pinecone',
  '@pinecone-database/pinecone',
  '@langchain/cohere',
]);

registerHooks({
  resolve: (specifier, context, next) => {
    if (!context.parentURL?.startsWith(programs)) return next(specifier, context);
    if (STAGED.has(specifier)) return next(stage, context);
    // A compiler leaves names of files as they are.
    return next(specifier.replace(/^(\..*)\.js$/, '$1.ts'), context);
  },
  load: (url, context, next) => {
    if (!url.startsWith(programs)) return next(url, context);
    const { code } = transformSync(withResult(readFileSync(new URL(url), 'utf8')), {
      filename: fileURLToPath(url),
      jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/** An example that says what it comes to has it read by who loads it. */
function withResult(source: string): string {
  const says = /^const result = /m.test(source) && !/^export /m.test(source);
  return says ? `${source}\nexport { result };\n` : source;
}
