/** What a run asks of an MCP server is recorded: its list of tools, and each call of one. */
import type { FunctionTool, MCPServer } from '@openai/agents';
import { toApplicationFailure } from '../../src/errors/failure.ts';
import { askStep } from '../../src/loop/ask.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { currentPosition, runInScope, runOutside } from '../../src/loop/current-loop.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { currentSdkRun } from './sdk-run.ts';

type Tools = (Awaited<ReturnType<MCPServer['listTools']>>[number] & {
  annotations?: { readOnlyHint?: boolean };
})[];
type CallArguments = [tool: string, args: unknown, meta?: unknown, options?: { signal?: AbortSignal }];
/** A call's content, with what else the server said as properties that nobody lists. */
type Content = object[] & { [field in (typeof BESIDE)[number]]?: unknown };
const BESIDE = ['_meta', 'structuredContent', 'isError'] as const;

/** Tools that the SDK makes of what a server lists; the calls that they make of the server are the steps. */
const served = new WeakSet<object>();
/** Lists that the servers of a run say not to ask for again, by the loop of the run. */
const lists = perLoop(() => new Map<object, Promise<Tools>>());
/** Names of the tools that a server says only read. */
const readers = new WeakMap<object, Set<string>>();
const hidden = new WeakSet<object>();

/** Whether the calls of a tool are those of a server. */
export function isServed(tool: object): boolean {
  return served.has(tool);
}

/** Notes which tools are of servers, where the SDK makes them. */
export function instrumentServedTools(agent: object): void {
  patchMethod(agent, 'getMcpTools', (getMcpTools) => {
    return async function (this: unknown, ...args) {
      const tools = (await getMcpTools.apply(this, args)) as FunctionTool[];
      for (const tool of tools) served.add(tool);
      return tools;
    };
  });
}

/** Has the steps of a run ask a server, in the runs of the SDK that are recorded. */
export function instrumentServer(server: MCPServer): void {
  hideCache(server);
  patchMethod(server, 'listTools', (listTools) => {
    return async function (this: MCPServer) {
      const list = async () => (await listTools.call(this)) as Tools;
      if (!currentSdkRun()) return await list();
      const tools = await listed(this, list);
      const reads = tools.filter(({ annotations }) => annotations?.readOnlyHint);
      readers.set(this, new Set(reads.map(({ name }) => name)));
      return tools;
    };
  });
  patchMethod(server, 'callTool', (callTool) => {
    return async function (this: MCPServer, ...args) {
      const call = async (...own: unknown[]) => (await callTool.apply(this, own)) as Content;
      if (!currentSdkRun()) return await call(...args);
      const { content, ...rest } = await called(this, args as CallArguments, async (...own) => {
        const answer = await call(...own);
        return Object.fromEntries([['content', answer], ...BESIDE.map((field) => [field, answer[field]])]);
      });
      for (const [field, value] of Object.entries(rest)) Object.defineProperty(content, field, { value });
      return content;
    };
  });
  patchMethod(server, 'callToolResult', (callToolResult) => {
    return async function (this: MCPServer, ...args) {
      const call = async (...own: unknown[]) =>
        (await callToolResult.apply(this, own)) as { content: Content };
      return await (currentSdkRun() ? called(this, args as CallArguments, call) : call(...args));
    };
  });
}

/** The tools that a server lists: each time it is asked, or once in a run if it says that its list may be kept. */
async function listed(server: MCPServer, list: () => Promise<Tools>): Promise<Tools> {
  const ask = async () => {
    return await askStep<Tools>({
      kind: 'step',
      name: 'mcp.listTools',
      request: { server: server.name },
      readOnly: true,
      options: { retry: { maximumAttempts: 3 } },
      closure: keepContext(async () => {
        try {
          return { value: plainJson(await list()) };
        } catch (error) {
          throw toApplicationFailure(error);
        }
      }),
    });
  };
  if (!runOutside(() => server.cacheToolsList)) return await ask();
  const { loop } = currentPosition()!;
  const ofRun = lists(loop);
  // Whichever agent asks first, it is the same step.
  const kept = ofRun.get(server) ?? runInScope('', ask);
  ofRun.set(server, kept);
  kept.catch(() => ofRun.delete(server));
  return structuredClone(await kept);
}

async function called(
  server: MCPServer,
  [tool, args, meta, options]: CallArguments,
  call: (...args: CallArguments) => Promise<object>,
): Promise<{ content: Content }> {
  return await askStep<{ content: Content }>({
    kind: 'tool',
    name: tool,
    request: { server: server.name, arguments: args },
    input: args,
    ...(readers.get(server)?.has(tool) && { readOnly: true }),
    closure: keepContext(async (signal) => {
      return {
        value: plainJson(
          await call(tool, args, meta, { ...options, signal: eitherSignal(signal, options?.signal) }),
        ),
      };
    }),
  });
}

/** The SDK keeps lists for all that runs in this process, and a run must not depend on what others asked. */
function hideCache(server: MCPServer): void {
  const own = Object.getOwnPropertyDescriptor(server, 'cacheToolsList');
  if (hidden.has(server) || !own?.configurable || !('value' in own)) return;
  hidden.add(server);
  let value: unknown = own.value;
  Object.defineProperty(server, 'cacheToolsList', {
    configurable: true,
    enumerable: own.enumerable === true,
    get: () => (currentSdkRun() ? false : value),
    set: (next) => {
      value = next;
    },
  });
}
