import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { digest } from '../../loop/fingerprint.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { ProviderAnswer, ProviderApi, ProviderRequest, ProviderScript } from './provider-script.ts';
import { RequestJournal, type JournalEntry } from './request-journal.ts';
import { sendAnswer } from './send-answer.ts';
import type { Body, Wire } from './wire.ts';

/** A provider of language models that answers over real HTTP what a script says. */
export interface ScriptedProvider {
  /** Base URL for a client of OpenAI, `/v1` included. */
  url: string;
  /** Every request so far, in order of arrival. Entries change as their requests are answered or given up. */
  requests: readonly JournalEntry[];
  /** How many requests fit; all of them without a predicate. */
  count: (predicate?: (entry: JournalEntry) => boolean) => number;
  /** Resolves with the first entry that fits, now or once one does. */
  waitFor: (predicate: (entry: JournalEntry) => boolean) => Promise<JournalEntry>;
  /** Drops all connections and ends the server. */
  stop: () => Promise<void>;
}

/** Where the provider listens. */
export interface ScriptedProviderOptions {
  /** Port on 127.0.0.1. @default a free one */
  port?: number;
}

const wires: Readonly<Record<string, [ProviderApi, Wire]>> = {
  '/v1/responses': ['responses', openaiResponses],
  '/v1/chat/completions': ['chat', openaiChat],
};

/**
 * Starts a provider of language models that does what the script says with each request.
 *
 * The script should go by the content of the request and never by the order in which requests arrive: then a run
 * that is repeated, or goes on elsewhere, gets the same answers. To fail the first times only, it goes by `attempt`.
 * A request that it has no answer for gets status 400, which says what was asked.
 */
export async function startScriptedProvider(
  script: ProviderScript,
  { port = 0 }: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const journal = new RequestJournal();
  const stopping = new AbortController();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request).catch(() => undefined)) as Body | undefined;
    const [api, wire] = (request.method === 'POST' && wires[request.url ?? '']) || [];
    if (api === undefined || wire === undefined || typeof body !== 'object' || !body) {
      const message = `Cannot answer ${request.method} ${request.url}: it takes a POST of JSON to ${Object.keys(wires).join(' or ')}.`;
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message } }));
      return;
    }
    const key = digest(body);
    const attempt = journal.count((earlier) => earlier.key === key) + 1;
    const entry = journal.add({ at: Date.now(), api, key, attempt, body });
    const gone = new AbortController();
    response.on('finish', () =>
      journal.change(entry, { answeredAt: Date.now(), status: response.statusCode }),
    );
    response.on('close', () => {
      gone.abort();
      if (entry.answeredAt === undefined && entry.resetAt === undefined && !stopping.signal.aborted) {
        journal.change(entry, { closedEarlyAt: Date.now() });
      }
    });
    const details = { ...wire.read(body), api, key, attempt, model: String(body['model']), body };
    const answer = await answerOf(script, { ...details, stream: body['stream'] === true });
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    const reset = () => {
      journal.change(entry, { resetAt: Date.now() });
      request.socket.resetAndDestroy();
    };
    await sendAnswer(response, { wire, answer, body, signal, reset }).catch((error: unknown) => {
      // A wait ends with an error when the client has gone, and then there is nobody left to tell.
      if (!signal.aborted) {
        response.destroy();
        throw error;
      }
    });
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: journal.entries,
    count: (predicate) => journal.count(predicate),
    waitFor: (predicate) => journal.waitFor(predicate),
    stop: async () => {
      stopping.abort();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answerOf(script: ProviderScript, request: ProviderRequest): Promise<ProviderAnswer> {
  let why = 'the script has no answer for it';
  try {
    const answer = await script(request);
    if (answer !== undefined) {
      return answer;
    }
  } catch (error) {
    why = `the script threw: ${error instanceof Error ? error.message : String(error)}`;
  }
  const asked = { ...request, body: undefined, key: undefined };
  const message = `Cannot answer the request: ${why}. It was: ${JSON.stringify(asked)}`;
  return {
    status: 400,
    errorBody: { error: { message, type: 'invalid_request_error', param: null, code: 'not_scripted' } },
  };
}
