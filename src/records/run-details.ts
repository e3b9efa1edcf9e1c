import type { RunReport } from '../protocol/report.ts';
import type { Pending, PendingApproval, PendingQuestion, RefusedSignal } from '../protocol/signals.ts';
import type { StepRecord } from '../protocol/step.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { budgetParts } from './budget-words.ts';
import { code, json, plain, table, workflowLink } from './markdown.ts';
import { count, countOf, dollars, duration } from './numbers.ts';
import { childId } from './run-report.ts';
import type { RecordCounts } from './run-spending.ts';
import { addSpent } from './spent.ts';
import { cacheWords, reasoningWords } from './token-words.ts';

/** A run as its details show it. */
export interface DescribedRun {
  records: readonly StepRecord[];
  counts: Readonly<RecordCounts>;
  inFlight: readonly Omit<RunReport['inFlight'][number], 'askedAt'>[];
  approvals: readonly PendingApproval[];
  questions: readonly PendingQuestion[];
  refused: readonly RefusedSignal[];
  /** How many messages nobody has read. */
  unread?: number;
  usage?: RunUsage;
  /** How many restarts gave the record of this number again. */
  timesReplayed?: (no: number) => number;
  /** Of the run, so that its children can be linked. */
  namespace?: string;
  workflowId?: string;
}

/** What is shown at most, in characters: a few KB. What waits for people comes first. */
const WAITING_CHARS = 6_000;
const SHOWN_STEPS = 6;
const SHOWN_IN_FLIGHT = 5;

/** What the Temporal UI shows of a run under "User Metadata": markdown, a few KB at most whatever the run holds. */
export function runDetails(run: DescribedRun): string {
  const { turns, tools, missed } = run.counts;
  const { calls = 0 } = run.usage?.cached ?? {};
  const fromCache = calls > 0 ? `, **${calls}** of them from the cache` : '';
  const lines = [`${bold(turns, 'model turn')} and ${bold(tools, 'tool call')} answered${fromCache}`];
  if (run.usage) lines.push(...spending(run.usage));
  const budget = budgetParts(run.usage?.budget);
  if (budget.length > 0) lines.push('', `Budget: ${budget.join('; ')}`);
  for (const { name, missed: fields } of missed)
    lines.push('', `Asked anew: turn ${code(name)}, whose ${fields!.map(code).join(', ')} changed`);
  lines.push(...underWay(run), ...waiting(run));
  if (run.unread) lines.push('', `Messages that the agent has not read: **${run.unread}**`);
  const refusal = run.refused.at(-1);
  if (refusal) lines.push('', `Refused: signal ${code(refusal.signal)}: ${plain(refusal.reason, 300)}`);
  return [...lines, ...lastSteps(run)].join('\n');
}

function bold(n: number, what: string): string {
  return countOf(n, what).replace(/^\S+/, '**$&**');
}

function underWay({ inFlight, namespace }: DescribedRun): string[] {
  const busy = inFlight.filter(({ kind }) => kind !== 'approval');
  if (busy.length === 0) return [];
  const shown = busy.slice(0, SHOWN_IN_FLIGHT).map(({ kind, name, child }) => {
    const what = `${kind} ${code(name)}`;
    return child === undefined || namespace === undefined
      ? what
      : `${what} (${workflowLink(namespace, child, 'open')})`;
  });
  const more = busy.length > SHOWN_IN_FLIGHT ? [`and ${busy.length - SHOWN_IN_FLIGHT} more`] : [];
  return ['', `In flight: ${[...shown, ...more].join(', ')}`];
}

/** What waits for people, as far as there is room. */
function waiting({ approvals, questions }: DescribedRun): string[] {
  const lines: string[] = [];
  const blocks = [
    ...approvals.map((one) => () => approvalBlock(one)),
    ...questions.map((one) => () => questionBlock(one)),
  ];
  let room = WAITING_CHARS;
  let shown = 0;
  for (; shown < blocks.length && room > 0; shown++) {
    const block = blocks[shown]!();
    room -= block.join('\n').length;
    if (shown > 0 && room < 0) break;
    lines.push(...block);
  }
  const more = blocks.length - shown;
  if (more > 0) lines.push('', `… and ${more} more; query \`waiting\` lists all.`);
  return lines;
}

function approvalBlock(pending: PendingApproval): string[] {
  return [
    ...waitsFor('a decision', pending),
    '',
    'Send signal `approve` or `reject` with:',
    ...json({ id: pending.id }),
    ...edits(pending),
  ];
}

function questionBlock(pending: PendingQuestion): string[] {
  const schema = JSON.stringify(pending.schema);
  return [
    ...waitsFor('an answer', pending),
    '',
    'Send signal `answer` with what fits in the place of `value`:',
    ...json({ id: pending.id, value: '…' }),
    ...(schema === '{}'
      ? ['Any JSON fits.']
      : schema.length <= 1_000
        ? ['What fits:', ...json(pending.schema)]
        : []),
  ];
}

/** The last steps: what they are, how long they took, and what is worth a note. */
function lastSteps(run: DescribedRun): string[] {
  const { records, namespace, workflowId } = run;
  if (records.length === 0) return [];
  const from = Math.max(0, records.length - SHOWN_STEPS);
  const rows = records.slice(from).map((record, i) => {
    const { kind, name, askedAt, answeredAt, child } = record;
    const isChild = (kind === 'agent' || child) && namespace !== undefined && workflowId !== undefined;
    const shown = plain(name, 60);
    const link = isChild ? workflowLink(namespace, childId(workflowId, record), shown) : shown;
    return [
      `${from + i + 1} ${kind} ${link}`,
      duration(answeredAt - askedAt),
      record.usage ? `${count(record.usage.input)} → ${count(record.usage.output)}` : '',
      notesOn(record, run.timesReplayed?.(from + i) ?? 0),
    ];
  });
  const title = from > 0 ? `The last ${SHOWN_STEPS} of ${count(records.length)} steps` : 'Steps';
  return ['', title, '', ...table(['', 'took', 'tokens', ''], rows)];
}

function notesOn(record: StepRecord, replayed: number): string {
  const { attempts, cached, missed, edited, failure, lost } = record;
  return [
    failure ? `failed: ${plain(failure.name, 60)}` : [],
    replayed > 0 ? `given again ${countOf(replayed, 'time')}` : [],
    attempts > 1 ? `started ${attempts} times` : [],
    lost ? `${countOf(lost, 'attempt')} perhaps paid for nothing` : [],
    cached ? `from the cache, where it took ${duration(cached.durationMs)}` : [],
    edited ? 'a person changed the arguments' : [],
    missed ? 'asked anew' : [],
  ]
    .flat()
    .join('; ');
}

function spending({ own, children, lost, replayed, before, priceTable }: RunUsage): string[] {
  const all = addSpent(own, children);
  const from = priceTable === undefined ? '' : ` by ${plain(priceTable, 100)}`;
  const parts: [string, Spent][] = [
    [`Spent${from}`, all],
    ['Of that in child agents', children],
    ['Perhaps paid for nothing, as workers vanished or connections were lost', lost],
    [`Not asked again after ${countOf(replayed.restarts, 'restart')} (${duration(replayed.ms)})`, replayed],
    ['Paid by the run before', before],
  ];
  return parts
    .filter(([, { turns }]) => turns > 0)
    .flatMap(([what, spent]) => ['', `${what}: ${spentText(spent)}`]);
}

function spentText({ turns, usage, usd, unpriced }: Spent): string {
  const { input, output } = usage;
  const unknown =
    unpriced.length > 0 ? `; no price is known for ${unpriced.slice(0, 5).map(code).join(', ')}` : '';
  return `${countOf(turns, 'model turn')}, **${count(input)}** tokens in${cacheWords(usage)}, **${count(output)}** out${reasoningWords(usage)}, **${dollars(usd)}**${unknown}`;
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
