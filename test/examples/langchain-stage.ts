/** What stands around the programs of `langchain-js`: the SDK's own `tool`, counted, and the web, at a server of the test. */
import { tool as coreTool } from '@langchain/core/tools';
import { RunnableLambda } from '@langchain/core/runnables';
import { z } from 'zod';
import { note } from '../kit/effects.ts';

type Execute = (input: any, ...rest: unknown[]) => unknown;

/** LangChain's own, but the calls of the tool's body are counted. */
export function tool(execute: Execute, fields: { name: string }): unknown {
  const counted: Execute = (input, ...rest) => {
    note(`ran ${fields.name} ${JSON.stringify(input)}`);
    return execute(input, ...rest);
  };
  return coreTool(counted, fields as never);
}

async function ask(url: string, query: string): Promise<string[]> {
  const response = await fetch(`${url}/?${new URLSearchParams({ query }).toString()}`);
  return (await response.json()) as string[];
}

/** In place of the class of `@langchain/community`: asks the server that a variable names. */
export function TavilySearchResults(): unknown {
  const search = async ({ input }: { input: string }) =>
    JSON.stringify(await ask(process.env['TAVILY_URL']!, input));
  const schema = z.object({ input: z.string() });
  const fields = { name: 'tavily_search_results_json', description: 'Searches the web.', schema };
  return tool(search, fields);
}

/** In place of the one of `@elastic/elasticsearch`. */
export class Client {
  readonly node: string;
  constructor({ node }: { node: string }) {
    this.node = node;
  }
}

/** In place of the one of `@langchain/community`. Like each retriever, it is code of the program's own: no step. */
export class ElasticVectorSearch {
  readonly #client: Client;
  constructor(_embeddings: unknown, { client }: { client: Client }) {
    this.#client = client;
  }
  asRetriever(): unknown {
    return RunnableLambda.from(async (query: string) => {
      const texts = await ask(this.#client.node, query);
      return texts.map((pageContent) => ({ pageContent, metadata: { uuid: pageContent } }));
    });
  }
}

/** In place of what a program imports and does not use. */
const unused = undefined;
export {
  unused as CohereEmbeddings,
  unused as MongoClient,
  unused as MongoDBAtlasVectorSearch,
  unused as Pinecone,
  unused as PineconeStore,
};

const file = { filename: z.string(), content: z.string() };
/** Tools that an example names and does not show. */
export const writeFileTool = tool(() => 'written', {
  name: 'write_file',
  description: 'Writes a file.',
  schema: z.object(file),
} as never);
export const readFileTool = tool(() => 'Hello', {
  name: 'read_file',
  description: 'Reads a file.',
  schema: z.object({ filename: z.string() }),
} as never);
