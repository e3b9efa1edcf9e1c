import type { Pending, PendingApproval, PendingQuestion, RefusedSignal } from '../protocol/signals.ts';
import type { StepRecord } from '../protocol/step.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent } from './spent.ts';

/** What the Temporal UI shows of a run under "User Metadata": markdown, a few KB at most whatever the run holds. */
export function runDetails(run: {
  records: readonly StepRecord[];
  inFlight: readonly { kind: string; name: string }[];
  approvals: readonly PendingApproval[];
  questions: readonly PendingQuestion[];
  refused: readonly RefusedSignal[];
  /** How many messages nobody has read. */
  unread?: number;
  usage?: RunUsage;
}): string {
  const turns = run.records.filter((record) => record.kind === 'turn').length;
  const tools = run.records.filter((record) => record.kind === 'tool').length;
  const cached = run.records.filter((record) => record.cached).length;
  const fromCache = cached > 0 ? `, **${cached}** of them from the cache` : '';
  const lines = [`**${turns}** model turns and **${tools}** tool calls answered${fromCache}`];
  if (run.usage) lines.push(...spending(run.usage));
  const missed = run.records.filter((record) => record.missed).slice(-3);
  for (const { name, missed: fields } of missed)
    lines.push('', `Asked anew: turn ${code(name)}, whose ${fields!.map(code).join(', ')} changed`);
  const busy = run.inFlight.filter(({ kind }) => kind !== 'approval').slice(0, 5);
  if (busy.length > 0)
    lines.push(`In flight: ${busy.map(({ kind, name }) => `${kind} ${code(name)}`).join(', ')}`);
  for (const pending of run.approvals.slice(0, 10)) {
    lines.push(
      ...waitsFor('a decision', pending),
      '',
      'Send signal `approve` or `reject` with:',
      ...json({ id: pending.id }),
      ...edits(pending),
    );
  }
  for (const pending of run.questions.slice(0, 10)) {
    const schema = JSON.stringify(pending.schema);
    lines.push(
      ...waitsFor('an answer', pending),
      '',
      'Send signal `answer` with what fits in the place of `value`:',
      ...json({ id: pending.id, value: '…' }),
      ...(schema.length <= 1_000 ? ['What fits:', ...json(pending.schema)] : []),
    );
  }
  const more = [run.approvals, run.questions].reduce((sum, { length }) => sum + Math.max(0, length - 10), 0);
  if (more > 0) lines.push('', `… and ${more} more; query \`waiting\` lists all.`);
  if (run.unread) lines.push('', `Messages that the agent has not read: **${run.unread}**`);
  const refusal = run.refused.at(-1);
  if (refusal) lines.push('', `Refused: signal ${code(refusal.signal)}: ${plain(refusal.reason, 300)}`);
  return lines.join('\n');
}

function spending({ own, children, lost, replayed, before, priceTable }: RunUsage): string[] {
  const all = addSpent(own, children);
  const from = priceTable === undefined ? '' : ` by ${plain(priceTable, 100)}`;
  const parts: [string, Spent][] = [
    [`Spent${from}`, all],
    ['Of that in child agents', children],
    ['Perhaps lost with workers that vanished', lost],
    [`Not asked again after ${replayed.restarts} restarts`, replayed],
    ['Paid by the run before', before],
  ];
  return parts
    .filter(([, { turns }]) => turns > 0)
    .flatMap(([what, spent]) => ['', `${what}: ${spentText(spent)}`]);
}

function spentText({ turns, usage, usd, unpriced }: Spent): string {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage;
  const cache = [
    cacheRead ? `${count(cacheRead)} from the provider's cache` : [],
    cacheWrite ? `${count(cacheWrite)} into it` : [],
  ].flat();
  const of = cache.length > 0 ? ` (${cache.join(', ')})` : '';
  const thought = reasoning ? ` (${count(reasoning)} reasoning)` : '';
  const unknown =
    unpriced.length > 0 ? `; no price is known for ${unpriced.slice(0, 5).map(code).join(', ')}` : '';
  return `${count(turns)} model turns, **${count(input)}** tokens in${of}, **${count(output)}** out${thought}, **$${dollars(usd)}**${unknown}`;
}

function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function dollars(usd: number): string {
  return usd.toFixed(usd >= 1 ? 2 : 4);
}

/** Arguments may be changed: those there are, to be sent as they are to be. */
function edits({ id, input, edit }: PendingApproval): string[] {
  if (!edit) return [];
  const payload = { id, arguments: input };
  const whole = JSON.stringify(payload).length <= 1_000;
  return ['Or approve with other arguments:', ...json(whole ? payload : { id, arguments: {} })];
}

function whenLate({ onTimeout = 'reject', expiresAt }: Pending): string[] {
  if (expiresAt === undefined) return [];
  const what = {
    reject: 'Rejected, if nobody decides, at',
    approve: 'Approved, if nobody decides, at',
    escalate: 'Put to others, if nobody decides, at',
  };
  return ['', `${what[onTimeout]} ${new Date(expiresAt).toISOString()}`];
}

function waitsFor(what: string, pending: Pending): string[] {
  const { id, prompt, audience, withdrawn, workflowId } = pending;
  return [
    '',
    `### Waiting for ${what}: ${code(id)}`,
    plain(prompt, 600),
    ...(workflowId === undefined ? [] : ['', `In ${code(workflowId)}; it may be answered here or there.`]),
    ...(audience === undefined ? [] : ['', `For ${code(audience)}`]),
    ...whenLate(pending),
    ...(withdrawn ? ['', 'The present loop has not asked for this; an answer waits until it does.'] : []),
  ];
}

/** A schema's texts are the agent's own; a fence in them would end the block. */
function json(value: unknown): string[] {
  return ['```json', JSON.stringify(value).replaceAll('`', '\\u0060'), '```'];
}

/** Text of a model, a tool or a person: shown as text, whatever markdown or HTML it holds. */
function plain(text: string, limit: number): string {
  let shown = '';
  for (const character of oneLine(text.slice(0, limit))) {
    shown += character.replace(/[\\`*_{}[\]()#+\-.!|<>&~:/@]/, (special) => `&#${special.charCodeAt(0)};`);
    if (shown.length > limit) break;
  }
  return shown.length > limit || text.length > limit ? `${shown}…` : shown;
}

function code(text: string): string {
  return `\`${oneLine(text.slice(0, 80)).replaceAll('`', ' ')}\``;
}

/** Without line breaks and control characters, and without those that turn the reading direction around. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
}
