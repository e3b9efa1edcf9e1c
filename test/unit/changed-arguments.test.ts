import { describe, expect, test } from '@jest/globals';
import { Approvals } from '../../src/records/approvals.ts';
import { decide } from '../kit/decide.ts';

const always = () => true;
const refund = { name: 'issue_refund', prompt: 'Refund $5?', input: { usd: 5 }, at: 1_000 };

describe('an approval whose arguments may be changed', () => {
  const edit = { type: 'object', properties: { usd: { type: 'number', maximum: 100 } }, required: ['usd'] };
  const editable = () => {
    const approvals = new Approvals();
    approvals.ask('k1', { ...refund, edit, argumentsHash: 'h1' });
    return approvals;
  };

  test('keeps what a person made of them, and the hash of what was shown', () => {
    const approvals = editable();
    const sent = {
      id: 'issue_refund-1',
      arguments: { usd: 4 },
      note: 'less',
      by: 'ann',
      argumentsHash: 'h1',
    };
    expect(decide(approvals, 'approve', sent, 2_000)).toBeUndefined();
    expect(approvals.decision('k1')).toEqual({
      approved: true,
      arguments: { usd: 4 },
      note: 'less',
      by: 'ann',
      at: 2_000,
    });
    const next = new Approvals(JSON.parse(JSON.stringify(approvals.carry())));
    for (const each of [approvals, next]) {
      expect(each.decisions()).toEqual([
        {
          id: 'issue_refund-1',
          name: 'issue_refund',
          decision: 'approved',
          arguments: { usd: 4 },
          note: 'less',
          by: 'ann',
          at: 2_000,
          argumentsHash: 'h1',
        },
      ]);
    }
  });

  test.each([
    ['approve', { arguments: { usd: 400 } }, /^the arguments for "issue_refund-1" do not fit: .*100/],
    [
      'approve',
      { arguments: { usd: 'x'.repeat(300_000) } },
      /^its "arguments" is too large: it has 300010 bytes; the limit is 262144;/,
    ],
    ['approve', { arguments: null }, /do not fit/],
    [
      'approve',
      { argumentsHash: 'h2' },
      /^"issue_refund-1" is asked about other arguments, with the hash h1$/,
    ],
    ['reject', { argumentsHash: 'h2' }, /with the hash h1$/],
  ])('refuses what does not fit, and waits on: %s %j', (signal, more, reason) => {
    const approvals = editable();
    expect(decide(approvals, signal, { id: 'issue_refund-1', ...more }, 2_000)).toMatch(reason);
    expect(approvals.pending(always)).toHaveLength(1);
  });

  test('takes no arguments with a rejection, and none where they may not be changed', () => {
    const approvals = editable();
    approvals.ask('k2', refund);
    expect(decide(approvals, 'approve', { id: 'issue_refund-2', arguments: { usd: 1 } }, 2_000)).toBe(
      'the arguments of "issue_refund-2" may not be changed: it has no "allowEdit"',
    );
    decide(approvals, 'reject', { id: 'issue_refund-1', arguments: { usd: 1 } }, 2_000);
    expect(approvals.decision('k1')).toEqual({ approved: false, at: 2_000 });
  });

  test('whose schema is of no use takes none', () => {
    const approvals = new Approvals();
    approvals.ask('k1', { ...refund, edit: { $ref: '#/nowhere' } });
    expect(decide(approvals, 'approve', { id: 'issue_refund-1', arguments: {} }, 1)).toMatch(/do not fit/);
  });
});

describe('in a child', () => {
  test('ids begin with its place, and what is said there may leave that out', () => {
    const approvals = new Approvals(undefined, 'clerk-1/');
    approvals.ask('k1', refund);
    approvals.ask('k2', refund);
    expect(approvals.pending(always).map(({ id }) => id)).toEqual([
      'clerk-1/issue_refund-1',
      'clerk-1/issue_refund-2',
    ]);
    expect(decide(approvals, 'approve', { id: 'issue_refund-2' }, 1)).toBeUndefined();
    expect(decide(approvals, 'approve', { id: 'clerk-1/issue_refund-1' }, 1)).toBeUndefined();
    expect(decide(approvals, 'approve', { id: 'clerk-2/issue_refund-1' }, 1)).toMatch(
      /^nothing here has the id/,
    );
    const next = new Approvals(JSON.parse(JSON.stringify(approvals.carry())), 'clerk-1/');
    next.ask('k3', refund);
    expect(next.pending(always).map(({ id }) => id)).toEqual(['clerk-1/issue_refund-3']);
  });
});
