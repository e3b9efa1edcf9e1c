/** What a run may be started with in its second argument, as JSON Schema: as much as the run relies on. */
type Schema = Record<string, unknown>;

const text: Schema = { type: 'string' };
const number: Schema = { type: 'number' };
const boolean: Schema = { type: 'boolean' };
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const pairs = (one: Schema, other: Schema): Schema =>
  listOf({ type: 'array', items: [one, other], minItems: 2, maxItems: 2 });
const object = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  type: 'object',
  properties,
  required,
});

const failure = object({ name: text, message: text }, 'name', 'message');
const amounts = object({ usd: number, tokens: number, turns: number }, 'usd', 'tokens', 'turns');
const allowance = object(
  {
    granted: object({ usd: number, tokens: number, turns: number }),
    until: number,
    rules: object({ onBreach: text, audience: text, unknownPrice: text, maxOutputTokens: number }),
  },
  'granted',
  'rules',
);
const nesting = object({ path: text, idempotencyKey: text, retries: number, allowance }, 'path');
const budget = object(
  {
    startedAt: number,
    raised: amounts,
    asked: number,
    until: number,
    pricesUnknown: boolean,
    denied: failure,
    children: amounts,
    allowance: {
      ...allowance,
      properties: { ...(allowance['properties'] as Schema), grants: number, returned: amounts },
      required: ['granted', 'rules', 'grants', 'returned'],
    },
  },
  'startedAt',
  'raised',
  'asked',
  'children',
);
const record = object(
  { key: text, kind: text, name: text, failure, attempts: number, askedAt: number, answeredAt: number },
  'key',
  'kind',
  'name',
);
const open = object(
  {
    name: text,
    prompt: text,
    askedAt: number,
    expiresAt: number,
    audience: text,
    argumentsHash: text,
    edit: object({}),
  },
  'prompt',
  'askedAt',
);
const decision = object(
  { approved: boolean, at: number, reason: text, by: text, note: text },
  'approved',
  'at',
);
const asked = object(
  { id: text, name: text, argumentsHash: text, decision, open, answer: object({}), escalated: text },
  'id',
);

const spent = object(
  {
    turns: number,
    usage: object({ input: number, output: number }, 'input', 'output'),
    usd: number,
    unpriced: listOf(text),
    restarts: number,
    ms: number,
    last: listOf(number),
  },
  'turns',
  'usage',
  'usd',
  'unpriced',
);

export const ORIGIN_SCHEMA: Schema = object({
  from: object(
    { workflowId: text, runId: text, fork: object({ keep: number }, 'keep') },
    'workflowId',
    'runId',
  ),
  nesting,
});

export const CARRY_SCHEMA: Schema = object(
  {
    records: listOf(record),
    chain: text,
    approvals: object({ minted: pairs(text, number), asked: pairs(text, asked) }, 'minted', 'asked'),
    losses: pairs(text, number),
    sleeps: pairs(text, number),
    open: pairs(text, boolean),
    agentFailures: number,
    divergedAt: number,
    pinned: number,
    underWay: listOf(text),
    reopened: listOf(text),
    failure,
    nesting,
    labels: pairs(text, text),
    inbox: listOf(object({ text, by: text, at: number }, 'text', 'at')),
    paidBefore: number,
    children: spent,
    budget,
    replayed: { ...spent, required: ['turns', 'usage', 'usd', 'unpriced', 'restarts', 'ms', 'last'] },
  },
  'records',
  'chain',
  'approvals',
  'losses',
  'sleeps',
  'open',
);
