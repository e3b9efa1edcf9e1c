import { describe, expect, test } from '@jest/globals';
import type { NestedReport } from '../../src/protocol/advance.ts';
import type { PendingApproval } from '../../src/protocol/signals.ts';
import { fitReport, NestedWaits } from '../../src/records/nested-waits.ts';

const pending = (id: string, more: Partial<PendingApproval> = {}): PendingApproval => ({
  id,
  name: 'refund',
  prompt: 'Refund?',
  askedAt: 1,
  ...more,
});
const report = (child: string, ...ids: string[]): NestedReport => ({
  child,
  approvals: ids.map((id) => pending(id)),
  questions: [],
  outcomes: [],
});
const door = { workflowId: 'root', runId: 'r', signal: 'approve', nth: 1 };
const decision = (id: string) => ({ door, sent: { how: 'approve' as const, id } });

function withChild(...ids: string[]): NestedWaits {
  const nested = new NestedWaits();
  nested.started('root/clerk', 'clerk-1/');
  nested.report(report('root/clerk', ...ids));
  return nested;
}

test('what waits in a child is known by its id, until the child says otherwise or is over', () => {
  const nested = withChild('clerk-1/refund-1', 'clerk-1/refund-2');
  expect(nested.approvals.map(({ id, workflowId }) => [id, workflowId])).toEqual([
    ['clerk-1/refund-1', 'root/clerk'],
    ['clerk-1/refund-2', 'root/clerk'],
  ]);
  expect(nested.childOf('clerk-1/refund-2')).toBe('root/clerk');
  nested.report(report('root/clerk', 'clerk-1/refund-2'));
  expect(nested.childOf('clerk-1/refund-1')).toBeUndefined();
  expect(nested.ended('root/clerk')).toEqual([]);
  expect(nested.approvals).toEqual([]);
});

test('what waits deeper keeps the run in which it waits', () => {
  const nested = withChild();
  const deep = {
    ...report('root/clerk'),
    approvals: [pending('clerk-1/aide-1/refund-1', { workflowId: 'deep' })],
  };
  nested.report(deep);
  expect(nested.approvals[0]!.workflowId).toBe('deep');
  expect(nested.childOf('clerk-1/aide-1/refund-1')).toBe('root/clerk');
});

describe('a decision that goes down', () => {
  test('leaves nothing to decide here until the child says what became of it', () => {
    const nested = withChild('clerk-1/refund-1');
    nested.handDown('root/clerk', decision('clerk-1/refund-1'));
    expect([nested.approvals, nested.childOf('clerk-1/refund-1')]).toEqual([[], undefined]);
    expect(nested.isOnItsWay('clerk-1/refund-1')).toBe(true);
    const refusal = { code: 'already-decided' as const, reason: 'by ann' };
    const outcome = { door, workflowId: 'root/clerk', refusal };
    expect(nested.report({ ...report('root/clerk', 'clerk-1/refund-1'), outcomes: [outcome] })).toEqual([
      outcome,
    ]);
    // It was refused, and waits still.
    expect(nested.childOf('clerk-1/refund-1')).toBe('root/clerk');
  });

  test('is given back if the child is over before it said anything', () => {
    const nested = withChild('clerk-1/refund-1');
    nested.handDown('root/clerk', decision('clerk-1/refund-1'));
    expect(nested.ended('root/clerk')).toMatchObject([decision('clerk-1/refund-1')]);
    expect(nested.isOnItsWay('clerk-1/refund-1')).toBe(false);
  });
});

describe('a report that anybody could have sent', () => {
  test.each([
    undefined,
    null,
    'x',
    {},
    { child: 'root/clerk' },
    { ...report('root/clerk'), approvals: 'all' },
    report('elsewhere', 'clerk-1/refund-9'),
    { ...report('root/clerk'), child: { toString: 1 } },
    report('root/clerk', 'refund-9', 'other-1/refund-9'),
    { ...report('root/clerk'), approvals: [null, 7, { id: 7 }] },
    {
      ...report('root/clerk'),
      questions: [{}],
      outcomes: [null, {}, { door }, { door, workflowId: 'x', refusal: 7 }],
    },
    { ...report('root/clerk'), approvals: [{ ...pending('clerk-1/refund-1'), askedAt: 1e300 }] },
    { ...report('root/clerk'), approvals: [{ ...pending('clerk-1/refund-1'), prompt: ['x'] }] },
  ])('shows nothing that is not below that child, and does not fail: %j', (given) => {
    const nested = withChild();
    nested.report(given);
    expect([nested.approvals, nested.questions]).toEqual([[], []]);
  });
});

test('of what is shown, only what has the right type is kept', () => {
  const nested = withChild();
  const odd = {
    expiresAt: 1e300,
    onTimeout: 'toString',
    audience: 7,
    edit: 'all',
    more: 1,
    argumentsHash: {},
  };
  nested.report({ ...report('root/clerk'), approvals: [{ ...pending('clerk-1/refund-1'), ...odd }] });
  expect(nested.approvals).toEqual([pending('clerk-1/refund-1', { workflowId: 'root/clerk' })]);
});

test("an outcome of what nobody handed down to that child is nobody's", () => {
  const nested = withChild('clerk-1/refund-1');
  nested.started('root/aide', 'aide-1/');
  nested.handDown('root/clerk', decision('clerk-1/refund-1'));
  const outcome = { door, workflowId: 'root/clerk' };
  expect(nested.report({ ...report('root/aide'), outcomes: [outcome] })).toEqual([]);
  const other = { ...outcome, door: { ...door, nth: 2 } };
  expect(nested.report({ ...report('root/clerk'), outcomes: [other, outcome, outcome] })).toEqual([outcome]);
});

test('a report that is too large for a signal leaves out arguments and long texts, then what is last', () => {
  const large = report('root/clerk', ...Array.from({ length: 20 }, (_, i) => `clerk-1/refund-${i + 1}`));
  expect(fitReport(large)).toEqual(large);
  for (const each of large.approvals) each.input = 'x'.repeat(20_000);
  for (const each of large.approvals) each.prompt = 'y'.repeat(20_000);
  const fit = fitReport(large).approvals;
  expect(fit.map(({ id }) => id)).toEqual(large.approvals.map(({ id }) => id));
  expect(fit.every(({ input, prompt }) => input === undefined && prompt === `${'y'.repeat(200)}…`)).toBe(
    true,
  );
  const many = report('root/clerk', ...Array.from({ length: 4_000 }, (_, i) => `clerk-1/refund-${i + 1}`));
  const { length } = fitReport(many).approvals;
  expect([length > 1_000, JSON.stringify(fitReport(many)).length < 300_000]).toEqual([true, true]);
  expect(many.approvals).toHaveLength(4_000);
});
