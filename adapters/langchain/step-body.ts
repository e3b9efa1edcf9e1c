/**
 * The bodies of steps that are a framework's code: of tools, nodes and backends. What they call is part of the step, but for
 * graphs that a tool runs: from the first one on it is made of steps, and what it asked before is recorded along with that.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { insideRun } from '../../src/loop/ask.ts';
import { type LoopPosition, runAt, runOutside } from '../../src/loop/current-loop.ts';
import { type Fingerprinted, fingerprint } from '../../src/loop/fingerprint.ts';

/** What a body asked before it ran a graph, and its answer. */
export interface AnswerBefore {
  of: string;
  answer: unknown;
}

interface Body {
  /** Where the graphs it runs stand in the run, and what it writes to a store. */
  position: LoopPosition;
  /** Of a tool. @default graphs are part of the body */
  ofTool?: {
    /** Before it runs the first graph. */
    beforeGraph(): Promise<void>;
    /** It is made of steps now. */
    isOfSteps: boolean;
    /** Before that: what it has asked; then: what it is to be answered, in the same order. */
    answers: AnswerBefore[];
  };
}
type Asked = Omit<Fingerprinted, 'scope'>;

const running = new AsyncLocalStorage<Body | undefined>();

/** Runs the body of a step: what it calls are plain calls. */
export function runBody<T>(position: LoopPosition, call: () => T): T {
  return running.run({ position }, () => runOutside(call));
}

/**
 * Runs the body of a tool: what it calls are plain calls until it runs a graph.
 * @param beforeGraph gets what it has asked by then
 */
export function runToolBody<T>(
  position: LoopPosition,
  beforeGraph: (answers: AnswerBefore[]) => Promise<void>,
  call: () => T,
): T {
  const ofTool = {
    beforeGraph: async () => {
      if (!ofTool.isOfSteps) await beforeGraph(ofTool.answers);
      ofTool.answers = [];
      ofTool.isOfSteps = true;
    },
    isOfSteps: false,
    answers: [] as AnswerBefore[],
  };
  return running.run({ position, ofTool }, () => runOutside(call));
}

/** Runs a tool's body again, of which is known that it is made of steps, and what it asked before. */
export function runToolBodyAgain<T>(
  position: LoopPosition,
  answers: readonly AnswerBefore[],
  call: () => T,
): T {
  const ofTool = { beforeGraph: async () => {}, isOfSteps: true, answers: [...answers] };
  return running.run({ position, ofTool }, () => runAt(besideGraphs(position), call));
}

/** What a body asks itself is in a scope of its own, so that its graphs ask the same whether that was plain calls or not. */
function besideGraphs(position: LoopPosition): LoopPosition {
  return { ...position, scope: `${position.scope}/body` };
}

/** The body that the running code is in. */
export function currentBody(): Body | undefined {
  return running.getStore();
}

/** Whether the running code is the body of a tool, and not of a graph in it. */
export function inToolBody(): boolean {
  return running.getStore()?.ofTool !== undefined;
}

/** Whether what the running code asks is a step: it is code of the run, or of a body that is made of steps. */
export function asksSteps(): boolean {
  return insideRun() || running.getStore()?.ofTool?.isOfSteps === true;
}

/** What the body of a tool was answered before it ran a graph, each answer once. */
export function answeredBefore(asked: Asked): { answer: unknown } | undefined {
  const { ofTool } = running.getStore() ?? {};
  if (!ofTool?.isOfSteps) return undefined;
  const of = fingerprint({ ...asked, scope: '' });
  const known = ofTool.answers.findIndex((each) => each.of === of);
  return known < 0 ? undefined : ofTool.answers.splice(known, 1)[0];
}

/** Asks for a step where `asksSteps`. */
export async function askFromBody<T>(ask: () => Promise<T>): Promise<T> {
  const { position, ofTool } = running.getStore() ?? {};
  if (!position || !ofTool) return await ask();
  return await running.run(undefined, () => (insideRun() ? ask() : runAt(besideGraphs(position), ask)));
}

/**
 * A plain call. In the body of a tool its answer is noted, for when that runs a graph later.
 * @param recorded what is noted; `undefined`: nothing
 */
export async function callInBody<T>(
  asked: () => Asked,
  call: () => Promise<T>,
  recorded: (answer: T) => unknown,
): Promise<T> {
  const { position, ofTool } = running.getStore() ?? {};
  if (!position || !ofTool) return await call();
  // What it calls itself is part of it.
  const answer = await running.run({ position }, call);
  try {
    noteAnswer(asked(), await recorded(answer));
  } catch {
    // What cannot be recorded is asked again.
  }
  return answer;
}

/** Notes the answer to a plain call in the body of a tool. */
export function noteAnswer(asked: Asked, answer: unknown): void {
  const { ofTool } = running.getStore() ?? {};
  if (!ofTool || ofTool.isOfSteps || answer === undefined) return;
  ofTool.answers.push({ of: fingerprint({ ...asked, scope: '' }), answer });
}

/** Runs a graph that the body of a tool calls as part of the run; `undefined`: the running code is no such body. */
export function graphInBody<T>(run: () => Promise<T>): Promise<T> | undefined {
  const body = running.getStore();
  if (!body?.ofTool) return undefined;
  const inRun = async () => {
    await body.ofTool!.beforeGraph();
    return await runAt(body.position, run);
  };
  return running.run(undefined, inRun);
}
