/** A run of the SDK is one trace, however often its loop is built; a span that has ended is not reported again. */
import type { getCurrentSpan, getGlobalTraceProvider } from '@openai/agents';
import { scopeKey } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { digest } from '../../src/loop/fingerprint.ts';
import { patchMethod } from '../patch-method.ts';
import { currentSdkRun } from './sdk-run.ts';

interface Options {
  traceId?: string | undefined;
  spanId?: string | undefined;
  name?: string;
  data?: { type: string; name?: string };
}

/** Instruments the traces of a copy of the SDK. What a model does is traced where it is asked, which is once. */
export function instrumentTracing(copy: {
  getGlobalTraceProvider: typeof getGlobalTraceProvider;
  getCurrentSpan: typeof getCurrentSpan;
}): void {
  const provider = copy.getGlobalTraceProvider();
  patchMethod(provider, 'createTrace', (createTrace) => {
    return function (this: unknown, options: Options) {
      const own = options.traceId === undefined && idOf('trace', options.name, undefined, 32);
      return createTrace.call(this, own ? { ...options, traceId: own } : options);
    };
  });
  patchMethod(provider, 'createSpan', (createSpan) => {
    return function (this: unknown, options: Options, parent?: { spanId?: string; traceId: string }) {
      const within = (parent ?? copy.getCurrentSpan())?.spanId ?? parent?.traceId;
      const own = options.spanId === undefined && idOf('span', options.data, within, 24);
      const span = createSpan.call(this, own ? { ...options, spanId: own } : options, parent) as object;
      patchMethod(span, 'end', (end) => {
        return function (this: unknown) {
          if (!(currentSdkRun() && currentPosition()!.loop.replaying)) end.call(this);
        };
      });
      return span;
    };
  });
}

/** The same for each loop of a run. */
function idOf(what: string, of: unknown, within: string | undefined, length: number): string | undefined {
  if (!currentSdkRun()) return undefined;
  const { loop } = currentPosition()!;
  const { type, name } = (typeof of === 'object' ? of : { type: of }) as { type?: unknown; name?: unknown };
  return `${what}_${digest([loop.runId, scopeKey(what, String(type), { name, within })]).slice(0, length)}`;
}
