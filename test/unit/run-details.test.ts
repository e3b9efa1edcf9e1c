import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PendingApproval } from '../../src/protocol/signals.ts';
import type { StepKind } from '../../src/protocol/step.ts';
import { type DescribedRun, runDetails } from '../../src/records/run-details.ts';
import { RunSpending } from '../../src/records/run-spending.ts';
import { recordWith } from '../kit/record.ts';

const nothing = { records: [], inFlight: [], approvals: [], questions: [], refused: [] };
const detailsOf = (run: Omit<DescribedRun, 'counts'>) =>
  runDetails({ ...run, counts: new RunSpending({ list: run.records }).counts });
const record = (kind: StepKind) => recordWith({ kind });
const pending = (changes: Partial<PendingApproval> = {}): PendingApproval => ({
  id: 'issue_refund-1',
  name: 'issue_refund',
  prompt: 'Refund?',
  askedAt: 0,
  ...changes,
});

test('counts answered turns and tools, and names what is in flight', () => {
  const records = (['turn', 'tool', 'turn', 'sleep', 'approval'] as const).map(record);
  const inFlight = [
    { kind: 'tool' as const, name: 'search' },
    { kind: 'approval' as const, name: 'issue_refund' },
  ];
  expect(detailsOf({ ...nothing, records, inFlight })).toBe(
    [
      '**2** model turns and **1** tool call answered',
      '',
      'In flight: tool `search`',
      '',
      'Steps',
      '',
      '|  | took | tokens |  |',
      '| --- | --- | --- | --- |',
      ...['turn', 'tool', 'turn', 'sleep', 'approval'].map(
        (kind, i) => `| ${i + 1} ${kind} n | 0 ms |  |  |`,
      ),
    ].join('\n'),
  );
});

test('shows each pending approval with the exact signal to send', () => {
  const shown = detailsOf({ ...nothing, approvals: [pending()] });
  expect(shown).toContain('### Waiting for a decision: `issue_refund-1`\nRefund?');
  const [, payload] = /```json\n(.*)\n```/.exec(shown)!;
  expect(JSON.parse(payload!)).toEqual({ id: 'issue_refund-1' });
});

test('says whom an approval concerns, and when it is decided without a person', () => {
  const shown = detailsOf({
    ...nothing,
    approvals: [
      pending({ audience: 'finance', expiresAt: 86_400_000 }),
      pending({ expiresAt: 86_400_000, onTimeout: 'approve' }),
      pending({ expiresAt: 86_400_000, onTimeout: 'escalate' }),
    ],
  });
  expect(shown).toContain('\n\nFor `finance`\n\nRejected, if nobody decides, at 1970-01-02T00:00:00.000Z\n');
  expect(shown).toContain('\n\nApproved, if nobody decides, at 1970-01-02T00:00:00.000Z\n');
  expect(shown).toContain('\n\nPut to others, if nobody decides, at 1970-01-02T00:00:00.000Z\n');
});

test('has the arguments ready to be changed, where they may be', () => {
  const input = { usd: 5, why: '```' };
  const shown = detailsOf({ ...nothing, approvals: [pending({ input, edit: { type: 'object' } })] });
  const blocks = [...shown.matchAll(/```json\n(.*)\n```/g)].map(([, json]) => JSON.parse(json!) as unknown);
  expect(blocks).toEqual([{ id: 'issue_refund-1' }, { id: 'issue_refund-1', arguments: input }]);
});

test('says where it waits, and how many messages are unread', () => {
  const below = pending({ id: 'writer-1/issue_refund-1', workflowId: 'w/writer-1a2b' });
  const shown = detailsOf({ ...nothing, approvals: [below], unread: 2 });
  expect(shown).toContain('\n\nIn `w/writer-1a2b`; it may be answered here or there.\n');
  expect(shown).toContain('\n\nMessages that the agent has not read: **2**');
});

test('says that an approval which the present loop has not asked for waits', () => {
  expect(detailsOf({ ...nothing, approvals: [pending({ withdrawn: true })] })).toContain(
    'an answer waits until it does',
  );
});

test('shows the last refused signal', () => {
  const refused = [
    { signal: 'approve', reason: 'first', at: 1 },
    { signal: 'approve', reason: 'last', at: 2 },
  ];
  const shown = detailsOf({ ...nothing, refused });
  expect(shown).toContain('Refused: signal `approve`: last');
  expect(shown).not.toContain('first');
});

describe('text of a model, a tool or a person', () => {
  const hostile = [
    '# heading\n> quote\n- item\n1. item\n```\nfence\n```',
    '[click](https://evil.example)',
    '![](https://evil.example/pixel.png)',
    '<script>alert(1)</script><img src=x onerror=alert(1)>',
    'a|b\n-|-\n**bold** _it_ ~~gone~~ `code`',
    '&lt;b&gt; &#60; \\<b>',
    'https://evil.example www.evil.example me@evil.example',
  ];

  test.each(hostile)('is shown as text: %j', (prompt) => {
    const line = promptLine(prompt);
    expect(decode(line)).toBe(prompt.replace(/\s+/g, ' '));
    expect(line.replace(/&#\d+;/g, '')).toMatch(/^[a-z0-9 =(),;"']*$/i);
  });

  test('is one line of words and escaped characters, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (prompt) => {
        const line = promptLine(prompt);
        expect(line).not.toMatch(/[\r\n\t\\`*_{}[\]<>|~!]/);
        expect(line.replaceAll(/&#\d+;/g, '')).not.toMatch(/[&#]/);
      }),
    );
  });

  test('cannot turn the reading direction around', () => {
    expect(promptLine('Refund \u202e0005$\u202c \u2066x\u2069')).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test("does not leave its code span or fence, where it is a step's name or an id", () => {
    const shown = detailsOf({
      ...nothing,
      inFlight: [{ kind: 'tool' as const, name: 'a`\n\n# b' }],
      approvals: [pending({ id: 'a`\n```\n# b-1' })],
    });
    expect(shown).toContain('In flight: tool `a  # b`');
    expect(shown.split('\n').filter((line) => line.startsWith('# '))).toEqual([]);
    expect(shown.split('\n').filter((line) => line.startsWith('```'))).toEqual(['```json', '```']);
  });
});

test('is a few KB at most, whatever the run holds', () => {
  const many = 3_000;
  const shown = detailsOf({
    ...nothing,
    records: Array.from({ length: many }, () => record('turn')),
    inFlight: Array.from({ length: many }, () => ({ kind: 'tool' as const, name: '`'.repeat(200) })),
    approvals: Array.from({ length: many }, () =>
      pending({ prompt: '~日'.repeat(9_000), id: '"'.repeat(70) }),
    ),
    refused: [{ signal: 'approve', reason: '~'.repeat(9_000), at: 1 }],
  });
  expect(Buffer.byteLength(shown)).toBeLessThan(8_192);
  expect(shown).toContain(`and ${many - 5} more`);
  expect(shown).toMatch(/… and 2,?\d{3} more; query `waiting` lists all/);
});

function promptLine(prompt: string): string {
  const lines = detailsOf({ ...nothing, approvals: [pending({ prompt })] }).split('\n');
  const start = lines.findIndex((line) => line.startsWith('###')) + 1;
  const end = lines.indexOf('Send signal `approve` or `reject` with:') - 1;
  expect(end - start).toBe(1);
  return lines[start]!;
}

function decode(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

test('shows each question with the signal to send and what fits, whatever the schema says', () => {
  const schema = { type: 'boolean', description: 'a ``` fence' };
  const question = { id: 'ship-1', prompt: 'Ship?', askedAt: 0, schema, audience: 'sales' };
  const shown = detailsOf({ ...nothing, questions: [question] });
  expect(shown).toContain('### Waiting for an answer: `ship-1`\nShip?\n\nFor `sales`');
  const blocks = [...shown.matchAll(/```json\n(.*)\n```/g)].map(([, json]) => JSON.parse(json!) as unknown);
  expect(blocks).toEqual([{ id: 'ship-1', value: '…' }, schema]);
});
