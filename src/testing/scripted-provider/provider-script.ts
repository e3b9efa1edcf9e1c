/** Says what the provider answers, from the request alone: then an agent gets the same answer whenever it asks. */
export type ProviderScript = (
  request: ProviderRequest,
) => ProviderAnswer | undefined | Promise<ProviderAnswer | undefined>;

/** The wire forms that the provider speaks: `POST /v1/responses` and `POST /v1/chat/completions`. */
export type ProviderApi = 'responses' | 'chat';

/** One request to the provider, the same whichever wire form it came in. */
export interface ProviderRequest {
  api: ProviderApi;
  /** SHA-256 of the canonical JSON of the body: the same for the same request, whoever sends it. */
  key: string;
  /** How many requests with this key there have been, this one included: 1 for the first. */
  attempt: number;
  model: string;
  /** Whether the answer is to come as server-sent events. */
  stream: boolean;
  /** Instructions and all system or developer messages, by line. Empty when there are none. */
  instructions: string;
  /** The conversation so far, system messages left out. */
  messages: readonly ProviderMessage[];
  /** Names of the tools on offer. */
  tools: readonly string[];
  /** The body as it came. */
  body: Readonly<Record<string, unknown>>;
}

/** One message of a conversation. Calls and results of tools are messages of their own, or part of one. */
export interface ProviderMessage {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  toolCalls: readonly { id: string; name: string; arguments: string }[];
  /** Results of tools; `name` is the one of the call with this id, or empty when there is no such call. */
  toolResults: readonly { callId: string; name: string; text: string }[];
}

/** What the provider does with a request. `{}` answers with empty text. */
export interface ProviderAnswer {
  /** Text of the answer; JSON text where the request asks for structured output. @default none, or empty text */
  text?: string;
  /** Tools to call. An id that is not given is unique, as a provider's are. @default none */
  toolCalls?: readonly { name: string; arguments: Readonly<Record<string, unknown>> | string; id?: string }[];
  /** Items of the Responses API that come before text and calls, such as what a hosted tool gave. @default none */
  items?: readonly Readonly<Record<string, unknown>>[];
  /** Tokens used. @default counts that follow from the length of request and answer */
  usage?: ProviderUsage;
  /** Wait before anything is sent, in milliseconds. @default 0 */
  delayMs?: number;
  /** Wait after the stream was opened and before its first token, in milliseconds. @default 0 */
  firstTokenDelayMs?: number;
  /** HTTP status. From 400 on an error is answered in place of text and tool calls. @default 200 */
  status?: number;
  /** HTTP headers, such as `retry-after`. @default none */
  headers?: Readonly<Record<string, string>>;
  /** Body of an error. @default an error in OpenAI's form that names the status */
  errorBody?: unknown;
  /** Send nothing, or only half of the answer, and hold the connection open. @default false */
  hang?: boolean | 'midway';
  /** Send nothing, or only half of the answer, and reset the connection. @default false */
  reset?: boolean | 'midway';
}

/** Tokens of one answer. */
export interface ProviderUsage {
  /** All tokens of the request, cached ones included. */
  inputTokens?: number;
  /** All tokens of the answer, those for reasoning included. */
  outputTokens?: number;
  /** @default 0 */
  cachedTokens?: number;
  /** @default 0 */
  reasoningTokens?: number;
}
