/** A model's answer is a turn: recorded, and after a restart given again without asking the provider. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ContextOverflowError } from '@langchain/core/errors';
import type { BaseMessage, UsageMetadata } from '@langchain/core/messages';
import { type ChatGeneration, ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { toApplicationFailure } from '../../src/errors/failure.ts';
import { askStep, insideRun } from '../../src/loop/ask.ts';
import { runOutside } from '../../src/loop/current-loop.ts';
import type { Usage } from '../../src/protocol/usage.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { askedOfTurn } from './asked-of-turn.ts';
import { wholeAnswerEvents } from './model-events.ts';
import { messageChunk, type RecordedMessage, recordedMessage, revivedMessage } from './messages.ts';
import { answeredBefore, askFromBody, asksSteps, callInBody, inToolBody, noteAnswer } from './step-body.ts';
import {
  maxOutputTokens,
  type Model,
  modelName,
  type Options,
  paramsOf,
  requestOfTurn,
} from './turn-request.ts';

interface RunManager {
  handleLLMNewToken(token: string, ...rest: unknown[]): Promise<void>;
}
interface RecordedGeneration {
  text: string;
  generationInfo?: Record<string, unknown>;
  message: RecordedMessage;
}
interface RecordedResult {
  generations: RecordedGeneration[];
  llmOutput?: Record<string, unknown>;
}
type Call = (options: Options) => Promise<ChatResult>;

/** What a callback is told between the token and its chunk. */
const NOTHING = [undefined, undefined, undefined, undefined];
const inTurn = new AsyncLocalStorage<true>();

/** Instruments LangChain's base of all models, through which each call comes before it comes to what differs between them. */
export function instrumentModels(base: object): boolean {
  const calls = ['_generateUncached', '_streamIterator', 'streamEvents'].map((name) =>
    patchMethod(base, name, (original) => {
      return function (this: object, ...args) {
        if (insideRun() || inToolBody()) instrumentModel(this as Model, base as Model);
        return original.apply(this, args);
      };
    }),
  );
  // What the process has cached would answer in the place of a record, but not in another process.
  const cached = patchMethod(base, '_generateCached', (original) => {
    return function (this: object, asked: object) {
      const none = { lookup: async () => null };
      return original.call(this, asksSteps() ? { ...asked, cache: none } : asked);
    };
  });
  return cached && calls.every(Boolean);
}

/** Instruments a model's class where it differs from the base, whose methods end in these. */
function instrumentModel(model: Model, base: Model): void {
  patchMethod(model.caller, 'callWithRetries', (callWithRetries) => {
    // The step's retries are the only ones.
    return function (this: unknown, retries: number, ...rest) {
      return callWithRetries.call(this, inTurn.getStore() ? 0 : retries, ...rest);
    };
  });
  patchMethod(model, '_generate', (generate) => {
    return async function (this: Model, messages: BaseMessage[], options: Options, manager?: RunManager) {
      const call = (own: Options) => generate.call(this, messages, own, manager) as Promise<ChatResult>;
      if (!asksSteps())
        return await callInBody(
          () => turnOf(this, messages, options),
          async () => await call(options),
          recorded,
        );
      const { value } = await takeTurn(this, messages, options, call);
      const generations = value.generations.map(({ message, ...rest }) => ({
        ...rest,
        message: revivedMessage(message),
      }));
      return { ...value, generations };
    };
  });
  if (model._streamResponseChunks !== base._streamResponseChunks) instrumentStream(model);
  if (model._streamChatModelEvents !== base._streamChatModelEvents)
    patchMethod(model, '_streamChatModelEvents', (events) => {
      return function (this: Model, ...args) {
        return asksSteps() ? wholeAnswerEvents(this, base, args) : events.apply(this, args);
      };
    });
}

/**
 * Callbacks, which the modes of a graph's stream are made of, get tokens as they come, and from the record in one piece.
 * What is yielded is the whole answer: of an attempt that broke midway nothing may be in it.
 */
function instrumentStream(model: Model): void {
  patchMethod(model, '_streamResponseChunks', (stream) => {
    return function (this: Model, messages: BaseMessage[], options: Options, manager?: RunManager) {
      const live = (own: Options) =>
        stream.call(this, messages, own, manager) as AsyncIterable<ChatGenerationChunk>;
      if (!asksSteps()) {
        const note = (whole: ChatResult) => noteAnswer(turnOf(this, messages, options), recorded(whole));
        return inToolBody() ? noted(live(options), note) : live(options);
      }
      const turn = async () =>
        await takeTurn(this, messages, options, async (own) => {
          let whole: ChatResult | undefined;
          for await (const _ of noted(live(own), (result) => (whole = result)));
          if (!whole) throw new Error('The stream ended before the answer was complete.');
          return whole;
        });
      return (async function* () {
        const { value, isLive } = await turn();
        const { text, generationInfo, message } = value.generations[0]!;
        const chunk = new ChatGenerationChunk({
          text,
          message: messageChunk(message),
          ...(generationInfo && { generationInfo }),
        });
        yield chunk;
        // As live, where it is part of the step: what a callback takes of chance is not the run's.
        if (!isLive && manager)
          await runOutside(() => manager.handleLLMNewToken(text, ...NOTHING, { chunk }));
      })();
    };
  });
}

/** A stream as it is; once it has ended, the whole answer is noted. */
async function* noted(
  stream: AsyncIterable<ChatGenerationChunk>,
  note: (result: ChatResult) => void,
): AsyncGenerator<ChatGenerationChunk> {
  let whole: ChatGenerationChunk | undefined;
  for await (const chunk of stream) {
    whole = whole ? whole.concat(chunk) : chunk;
    yield chunk;
  }
  if (whole) note({ generations: [whole] });
}

function turnOf(
  model: Model,
  messages: readonly BaseMessage[],
  options: Options,
  params = paramsOf(model, options),
) {
  return {
    kind: 'turn' as const,
    name: modelName(model, options, params),
    request: requestOfTurn(model, messages, options, params),
  };
}

async function takeTurn(
  model: Model,
  messages: readonly BaseMessage[],
  options: Options,
  call: Call,
): Promise<{ value: RecordedResult; isLive: boolean }> {
  const { signal: given } = options;
  let isLive = false;
  const params = paramsOf(model, options);
  const asked = turnOf(model, messages, options, params);
  const before = answeredBefore(asked);
  if (before) return { value: before.answer as RecordedResult, isLive };
  const ask = async () =>
    await askStep<RecordedResult>({
      ...asked,
      maxOutputTokens: maxOutputTokens(model, options, params),
      about: askedOfTurn(messages),
      closure: keepContext(async (signal) => {
        isLive = true;
        const own = { ...options, signal: eitherSignal(signal, given) };
        try {
          const result = await inTurn.run(true, () => call(own));
          const usage = usageOf(result);
          return { value: recorded(result), ...(usage && { usage }) };
        } catch (error) {
          // The caller gave up: to try again is not what it wants.
          if (given?.aborted) throw toApplicationFailure(given.reason, true);
          throw error;
        }
      }),
    });
  try {
    return { value: await askFromBody(ask), isLive };
  } catch (error) {
    throw ofItsClass(error);
  }
}

function recorded({ generations, llmOutput }: ChatResult): RecordedResult {
  const plain = generations.map(({ text, generationInfo, message }: ChatGeneration) => ({
    text,
    generationInfo,
    message: recordedMessage(message),
  }));
  return plainJson({ generations: plain, llmOutput }) as RecordedResult;
}

function usageOf({ generations, llmOutput }: ChatResult): Usage | undefined {
  const message = generations.at(0)?.message as { usage_metadata?: UsageMetadata } | undefined;
  const metadata = message?.usage_metadata;
  const counted = llmOutput?.['tokenUsage'] as
    | { promptTokens?: number; completionTokens?: number }
    | undefined;
  if (!metadata)
    return counted && { input: counted.promptTokens ?? 0, output: counted.completionTokens ?? 0 };
  const { input_token_details: input = {}, output_token_details: output = {} } = metadata;
  const kinds = {
    cacheRead: input.cache_read,
    cacheWrite: input.cache_creation,
    inputAudio: input.audio,
    inputImage: (input as { image?: number }).image,
    reasoning: output.reasoning,
    outputAudio: output.audio,
  };
  const known = Object.entries(kinds).filter(([, tokens]) => tokens !== undefined);
  return { input: metadata.input_tokens, output: metadata.output_tokens, ...Object.fromEntries(known) };
}

/** Middleware that summarizes looks for this class. */
function ofItsClass(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ContextOverflowError') return error;
  return Object.assign(new ContextOverflowError(error.message), { cause: error });
}
