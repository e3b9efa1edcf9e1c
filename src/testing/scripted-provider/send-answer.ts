import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderAnswer } from './provider-script.ts';
import { completeAnswer, uniqueId, type Body, type Frame, type Wire } from './wire.ts';

/** What is to be sent, and what to do on the way. */
export interface Delivery {
  wire: Wire;
  answer: ProviderAnswer;
  body: Body;
  /** Ends every wait. */
  signal: AbortSignal;
  /** Resets the connection. */
  reset: () => void;
}

/**
 * Sends one answer, at the pace and to the point that it says. Resolves when there is no more to do, whether the
 * answer went out whole or not.
 */
export async function sendAnswer(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { answer, reset, signal } = delivery;
  await wait(answer.delayMs, signal);
  if (answer.hang === true) {
    return;
  }
  if (answer.reset === true) {
    reset();
    return;
  }
  const { headers, opening, rest } = payloadOf(delivery);
  response.writeHead(answer.status ?? 200, {
    'x-request-id': uniqueId('req_'),
    ...headers,
    ...answer.headers,
  });
  response.flushHeaders();
  await write(response, opening);
  await wait(answer.firstTokenDelayMs, signal);
  if (answer.hang || answer.reset) {
    await write(response, rest.slice(0, Math.ceil(rest.length / 2)).join(''));
    if (answer.reset) {
      reset();
    }
    return;
  }
  for (const part of rest) {
    response.write(part);
  }
  response.end();
}

/** The answer in two parts, between which the first token may be waited for. */
function payloadOf({ wire, answer, body }: Delivery): {
  headers: Record<string, string>;
  opening: string;
  rest: string[];
} {
  const { status = 200 } = answer;
  if (status < 400 && body['stream'] === true) {
    const { opening, rest } = wire.stream(completeAnswer(answer, body), body);
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
    return { headers, opening: opening.map(frameText).join(''), rest: rest.map(frameText) };
  }
  const content =
    status < 400 ? wire.whole(completeAnswer(answer, body), body) : (answer.errorBody ?? errorOf(status));
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const middle = Math.floor(text.length / 2);
  const rest = [text.slice(0, middle), text.slice(middle)];
  return { headers: { 'content-type': 'application/json' }, opening: '', rest };
}

function errorOf(status: number) {
  return {
    error: { message: `The script answers ${status}.`, type: 'scripted_error', param: null, code: null },
  };
}

function frameText({ event, data }: Frame): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

async function wait(milliseconds: number | undefined, signal: AbortSignal): Promise<void> {
  if (milliseconds) {
    await delay(milliseconds, undefined, { signal });
  }
}

/** Writes and resolves when it was handed to the system, or cannot be any more. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (text !== '') {
    await new Promise<void>((resolve) => response.write(text, () => resolve()));
  }
}
