/** A model's answer is a turn: recorded, and after a restart given again without asking the provider. */
import {
  getDefaultModel,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import { toApplicationFailure } from '../../src/errors/failure.ts';
import { askStep, insideRun } from '../../src/loop/ask.ts';
import type { Usage as StepUsage } from '../../src/protocol/usage.ts';
import { sorted, without } from '../comparable.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { askedOfTurn } from './asked-of-turn.ts';

type Request = ModelRequest & { _internal?: object };
type UsageData = NonNullable<ConstructorParameters<typeof Usage>[0]>;
/** A response with its usage as plain data. */
type Response = Omit<ModelResponse, 'usage'> & { usage: UsageData };

const names = new WeakMap<object, string>();

/** Instruments the models that a provider hands out to runs, and notes by which name. */
export function instrumentProvider(provider: object): void {
  patchMethod(provider, 'getModel', (getModel) => {
    return function (this: unknown, name?: string, ...rest) {
      const got = getModel.call(this, name, ...rest) as object | Promise<object>;
      if (!insideRun()) return got;
      const instrument = (model: object) => {
        names.set(model, name || getDefaultModel());
        instrumentModel(model);
        return model;
      };
      return got instanceof Promise ? got.then(instrument) : instrument(got);
    };
  });
}

/** Instruments a model where its methods are: on its class, as a rule. */
export function instrumentModel(model: object): void {
  patchMethod(model, 'getResponse', (getResponse) => {
    return async function (this: object, request: Request) {
      const call = (own: Request) => getResponse.call(this, own) as Promise<Response>;
      if (!insideRun()) return await call(request);
      const response = await takeTurn(this, request, call);
      return { ...response, usage: new Usage(response.usage) };
    };
  });
  patchMethod(model, 'getStreamedResponse', (getStreamedResponse) => {
    return function (this: object, request: Request) {
      const call = (own: Request) => getStreamedResponse.call(this, own) as AsyncIterable<StreamEvent>;
      return insideRun() ? streamTurn(this, request, call) : call(request);
    };
  });
}

async function takeTurn(
  model: object,
  request: Request,
  call: (request: Request) => Promise<Response>,
): Promise<Response> {
  const name = names.get(model) ?? (model as { _model?: string })._model ?? model.constructor.name;
  return await askStep<Response>({
    kind: 'turn',
    name,
    request: fingerprinted(name, request),
    maxOutputTokens: request.modelSettings.maxTokens,
    about: askedOfTurn(request.input),
    closure: keepContext(async (signal) => {
      const own = {
        ...request,
        signal: eitherSignal(signal, request.signal),
        // Turns off the OpenAI client's retries: the step's are the only ones.
        _internal: { ...request._internal, runnerManagedRetry: true },
      };
      try {
        const response = recordable(await call(own));
        return { value: response, usage: stepUsage(response.usage) };
      } catch (error) {
        // The caller gave up, or the SDK's own timeout is over: to try again is not what it wants.
        if (request.signal?.aborted) throw toApplicationFailure(request.signal.reason, true);
        throw error;
      }
    }),
  });
}

/**
 * Streams a turn: live, what the provider sends, as it comes; from the record, its text in one piece. Only the response
 * is recorded, as it is without streaming.
 */
async function* streamTurn(
  model: object,
  request: Request,
  call: (request: Request) => AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  let live!: ReadableStreamDefaultController<StreamEvent>;
  const events = new ReadableStream<StreamEvent>({ start: (controller) => void (live = controller) });
  let attempts = 0;
  const turn = takeTurn(model, request, async (own) => {
    // What an attempt that failed midway has streamed is void.
    if (++attempts > 1) live.enqueue({ type: 'model', event: { type: 'turn_restarted', attempt: attempts } });
    let response: Response | undefined;
    for await (const event of call(own)) {
      if (event.type === 'response_done') {
        const { id: responseId, ...rest } = event.response;
        response = { ...rest, responseId } as Response;
      } else live.enqueue(event);
    }
    if (!response) throw new Error('The stream ended before the response was complete.');
    return response;
  });
  const close = () => live.close();
  void turn.then(close, close);
  yield* events.values({ preventCancel: true });
  const { responseId = 'unknown', ...response } = await turn;
  if (attempts === 0) {
    yield { type: 'response_started' };
    const text = textOf(response);
    if (text !== '') yield { type: 'output_text_delta', delta: text };
  }
  yield { type: 'response_done', response: { ...response, id: responseId } } as StreamEvent;
}

/** What affects the answer. */
function fingerprinted(model: string, request: Request): object {
  const { systemInstructions, input, modelSettings, tools, handoffs } = request;
  return {
    ...without(request, 'systemInstructions', 'input', 'signal', 'tracing', '_internal'),
    model,
    instructions: systemInstructions,
    messages: typeof input === 'string' ? input : withoutIds(input),
    modelSettings: without(modelSettings, 'retry', 'timeoutMs'),
    tools: sorted(tools, (tool) => tool.name),
    handoffs: sorted(handoffs, (handoff) => handoff.toolName),
  };
}

/** Messages without the ids that a provider mints; a result belongs to its call by the order of the calls. */
function withoutIds(items: readonly object[]): object[] {
  const calls = new Map<unknown, number>();
  return items.map((item) => {
    const { id, callId, providerData } = item as {
      id?: unknown;
      callId?: unknown;
      providerData?: { id?: unknown };
    };
    const said = without(item, 'id', 'callId');
    if (callId === undefined && Object.keys(said).length < 2) return item; // nothing but a reference to its id
    if (callId !== undefined && !calls.has(callId)) calls.set(callId, calls.size);
    if (id !== undefined && providerData?.id === id) said['providerData'] = without(providerData, 'id');
    return { ...said, callId: calls.get(callId) };
  });
}

/** JSON of a response. Of its raw form, what only repeats the request and the output is left out. */
function recordable({ providerData, ...response }: Response): Response {
  const repeats = ['instructions', 'tools', 'text', 'metadata', 'output', 'output_text', 'usage'];
  const raw = providerData && { providerData: without(providerData, ...repeats) };
  return plainJson({ ...response, ...raw }) as Response;
}

function stepUsage({
  inputTokens,
  outputTokens,
  inputTokensDetails,
  outputTokensDetails,
}: UsageData): StepUsage {
  const usage: StepUsage = { input: inputTokens ?? 0, output: outputTokens ?? 0 };
  const input: Record<string, number>[] = [inputTokensDetails ?? []].flat();
  const output: Record<string, number>[] = [outputTokensDetails ?? []].flat();
  const add = (kind: Exclude<keyof StepUsage, 'input' | 'output'>, tokens: number | undefined) => {
    if (tokens !== undefined) usage[kind] = (usage[kind] ?? 0) + tokens;
  };
  for (const { cached_tokens, cache_write_tokens, audio_tokens, image_tokens } of input) {
    add('cacheRead', cached_tokens);
    add('cacheWrite', cache_write_tokens);
    add('inputAudio', audio_tokens);
    add('inputImage', image_tokens);
  }
  for (const { reasoning_tokens, audio_tokens } of output) {
    add('reasoning', reasoning_tokens);
    add('outputAudio', audio_tokens);
  }
  return usage;
}

function textOf({ output }: Pick<Response, 'output'>): string {
  const parts = output.flatMap((item) => ('role' in item && item.role === 'assistant' ? item.content : []));
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}
