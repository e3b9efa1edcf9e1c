/** Patches each copy of the SDK once, where the copy is. Outside a run, what is patched does what it did. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import * as sdk from '@openai/agents';
import { addLasting } from '../../src/errors/failure.ts';
import { UnsupportedError } from '../../src/errors/index.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { instrumentEachCopy } from '../each-copy.ts';
import { patchMethod } from '../patch-method.ts';
import { dependency } from './dependencies.ts';
import { type Interruptible, toolInternals, type ToolInternals, untilDecided } from './interrupts.ts';
import { instrumentServedTools, instrumentServer } from './mcp.ts';
import { instrumentModel, instrumentProvider } from './model.ts';
import { inConversation } from './run-exchange.ts';
import { currentSdkRun, withinSdkRun } from './sdk-run.ts';
import { instrumentSession } from './session.ts';
import { instrumentStreamed, type Resume } from './streamed.ts';
import { toolsOf } from './tools.ts';
import { instrumentTracing } from './tracing.ts';

type Sdk = Pick<
  typeof sdk,
  | 'Agent'
  | 'AgentsError'
  | 'MemorySession'
  | 'Runner'
  | 'run'
  | 'StreamedRunResult'
  | 'getCurrentSpan'
  | 'getGlobalTraceProvider'
>;
type RunOptions = { stream?: boolean; session?: sdk.Session; signal?: AbortSignal | undefined };
type AnyAgent = sdk.Agent<any, any>;

const require = createRequire(import.meta.url);
const copies = new Set<Sdk>();
let internalsLoaded: Promise<void> | undefined;

export function instrument(): void {
  const framework = { title: 'the OpenAI Agents SDK', packages: '@openai', supported: [dependency] };
  instrumentEachCopy(framework, sdk, adopt);
}

/** The copy that an agent is of. */
export function copyOf(agent: unknown): Sdk {
  return [...copies].find(({ Agent }) => agent instanceof Agent) ?? sdk;
}

/** Instruments an agent's class, or that of a copy nobody has seen. */
export function instrumentAgent(agent: object): boolean {
  instrumentServedTools(agent);
  return patchMethod(agent, 'getAllTools', (getAllTools) => {
    return async function (this: AnyAgent, ...args) {
      if (insideRun()) this.mcpServers.forEach(instrumentServer);
      const tools = (await getAllTools.apply(this, args)) as unknown[];
      if (insideRun()) {
        assertSupported(this);
        if (typeof this.model === 'object') instrumentModel(this.model);
        await (internalsLoaded ??= loadInternals());
      }
      return toolsOf(this, tools);
    };
  });
}

/** Instruments a runner's class. */
export function instrumentRunner(runner: object): boolean {
  return patchMethod(runner, 'run', (run) => {
    return async function (this: sdk.Runner, agent: AnyAgent, input: unknown, options?: RunOptions) {
      if (!insideRun()) return await run.call(this, agent, input, options);
      assertSupported(agent, options);
      const { modelProvider, model } = this.config;
      instrumentProvider(modelProvider);
      if (typeof model === 'object') instrumentModel(model);
      instrumentAgent(agent);
      // A nested run's approvals surface at the top.
      const nested = currentSdkRun() !== undefined;
      return await inConversation(options, isState(input), async (exchange) => {
        const start = async (from: unknown, how?: RunOptions): Promise<Interruptible> => {
          const resume: Resume = async (state, signal) => await start(state, { ...options, signal });
          return await withinSdkRun(
            { session: options?.session, exchange, ...(!nested && options?.stream && { resume }) },
            async () => await (run.call(this, agent, from, how) as Promise<Interruptible>).catch(rethrow),
          );
        };
        if (nested || options?.stream) return await start(input, options);
        return await untilDecided(
          () => start(input, options),
          (state) => start(state, options),
        );
      });
    };
  });
}

/** Whether a run of the SDK goes on from one, in whichever copy of the SDK that was. */
function isState(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'approve' in input && 'reject' in input;
}

function instrumentCopy(copy: Sdk): boolean {
  if (!instrumentRunner(copy.Runner.prototype) || !instrumentAgent(copy.Agent.prototype)) return false;
  copies.add(copy);
  // Too many turns, a tripwire, an answer that fits nothing: they follow from answers. Not so what a guardrail's code threw.
  const others = new Set(['GuardrailExecutionError', 'SystemError']);
  addLasting((error) => error instanceof copy.AgentsError && !others.has(error.constructor.name));
  instrumentStreamed(copy.StreamedRunResult.prototype);
  instrumentTracing(copy);
  return true;
}

/** Takes in what a module exports. @returns whether it is as it should be */
function adopt(exports: object): boolean {
  const found = exports as Partial<Sdk & ToolInternals>;
  if (found.prepareFunctionToolInput) toolInternals.add(found as ToolInternals);
  return !(found.Runner && found.Agent && found.run) || instrumentCopy(found as Sdk);
}

/** Of the copy that modules import; they lie beside those that `require` would load. */
async function loadInternals(): Promise<void> {
  try {
    const path = createRequire(require.resolve(dependency.name)).resolve(
      '@openai/agents-core/utils/internal',
    );
    adopt((await import(pathToFileURL(path.replace(/\.js$/, '.mjs')).href)) as object);
  } catch {
    // Versions without them give policies the arguments as they came.
  }
}

function assertSupported(agent: AnyAgent, { session }: RunOptions = {}): void {
  const why =
    'defaultManifest' in agent
      ? 'a restart does not rebuild its sandbox.'
      : session && instrumentSession(session, isMemory);
  if (why !== undefined) throw new UnsupportedError(`Cannot run agent ${agent.name}: ${why}`);
}

/** Not a class that extends it: that may keep its items elsewhere. */
function isMemory(session: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(session);
  return [...copies].some(({ MemorySession }) => prototype === MemorySession.prototype);
}

/** The SDK wraps a tool's error without naming it as the cause, by which a run tells what a restart cannot mend. */
function rethrow(error: unknown): never {
  const { error: wrapped, cause } = error as { error?: unknown; cause?: unknown };
  if (error instanceof Error && wrapped instanceof Error && cause === undefined) error.cause = wrapped;
  throw error;
}
