/**
 * The only way from outside to the runs: a webhook for the shop, and a door for those who decide. Whoever has a token may do
 * what that is for, and nothing else; Temporal itself is reachable only from here and from the workers.
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { type DecideInput, DecisionRefusedError, sendDecision, messageUpdate } from 'temporal-agents';
import { refunds } from './agents.ts';

export interface GatewayOptions {
  client: Client;
  taskQueue: string;
  /** Who may do what, by token. */
  tokens: { shop: string; approvers: Readonly<Record<string, string>> };
}

export function createGateway({ client, taskQueue, tokens }: GatewayOptions): Server {
  /** `POST /orders/A-17/complaints`: starts the order's run, or says more to it; once for each delivery of the webhook. */
  const complain = async (order: string, text: string, delivery: string | undefined): Promise<unknown> => {
    const startWorkflowOperation = new WithStartWorkflowOperation(refunds, {
      taskQueue,
      workflowId: `refund-${order}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      // A complaint about what is settled is for a person: another run would be free to pay once more.
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [order],
    });
    return await client.workflow.executeUpdateWithStart(messageUpdate, {
      startWorkflowOperation,
      args: [{ text, by: 'shop' }],
      ...(delivery !== undefined && { updateId: delivery }),
    });
  };
  /** `POST /orders/A-17/decisions`: `by` is who has the token, whatever the body says. */
  const decide = async (order: string, by: string, body: DecideInput): Promise<unknown> =>
    await sendDecision(client.workflow.getHandle(`refund-${order}`), { ...body, by });

  const answer = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const [, order, what] = /^\/orders\/([\w-]{1,40})\/(complaints|decisions)$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || order === undefined) return [404, { error: 'no such door' }];
    const bearer = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const approver = Object.keys(tokens.approvers).find((name) => same(tokens.approvers[name]!, bearer));
    if (what === 'decisions' ? approver === undefined : !same(tokens.shop, bearer))
      return [401, { error: 'not with this token' }];
    const body = await json(request);
    if (!body) return [400, { error: 'the body must be a JSON object of at most 64 KB' }];
    const { text } = body;
    if (what === 'complaints') {
      if (typeof text !== 'string' || text === '') return [400, { error: 'a complaint has a "text"' }];
      return [202, await complain(order, text, request.headers['idempotency-key'] as string | undefined)];
    }
    return [200, await decide(order, approver!, body as unknown as DecideInput)];
  };
  return createServer((request, response) => {
    answer(request)
      .catch((error: unknown): [number, unknown] =>
        error instanceof DecisionRefusedError
          ? [409, { error: error.message, code: error.code }]
          : error instanceof WorkflowExecutionAlreadyStartedError
            ? [409, { error: 'this order is settled' }]
            : [500, { error: 'it did not work' }],
      )
      .then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)))
      .catch(() => response.destroy());
  });
}

function same(token: string, given: string): boolean {
  const [one, other] = [Buffer.from(token), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

async function json(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > 64 * 1024) return undefined;
  }
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
