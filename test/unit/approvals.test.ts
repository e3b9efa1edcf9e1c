import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Approvals } from '../../src/records/approvals.ts';
import { Unreadable } from '../../src/records/refusals.ts';
import { decide } from '../kit/decide.ts';

const always = () => true;
const refund = { name: 'issue_refund', prompt: 'Refund $5?', input: { usd: 5 }, at: 1_000 };

function asking(...keys: string[]): Approvals {
  const approvals = new Approvals();
  for (const key of keys) approvals.ask(key, refund);
  return approvals;
}

describe('ids', () => {
  test('are the name and a number, in the order in which steps ask', () => {
    const approvals = asking('k1', 'k2');
    approvals.ask('k3', { ...refund, name: 'send_mail' });
    expect(approvals.pending(always).map(({ id }) => id)).toEqual([
      'issue_refund-1',
      'issue_refund-2',
      'send_mail-1',
    ]);
  });

  test('belong to the step: a step that asks again keeps its id, its first time and its decision', () => {
    const approvals = asking('k1', 'k2');
    decide(approvals, 'reject', { id: 'issue_refund-1', reason: 'no' }, 2_000);
    approvals.ask('k2', { ...refund, at: 9_000 });
    approvals.ask('k1', { ...refund, at: 9_000 });
    expect(approvals.pending(always)).toEqual([
      { id: 'issue_refund-2', name: 'issue_refund', prompt: 'Refund $5?', input: { usd: 5 }, askedAt: 1_000 },
    ]);
    expect(approvals.decision('k1')).toEqual({ approved: false, reason: 'no', at: 2_000 });
  });

  test('stay unique over any number of runs of a chain, whatever the names', () => {
    const name = fc.constantFrom('a', 'a-1', 'a-1-1', 'b');
    const run = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), name), { maxLength: 10 });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 4 }), (runs) => {
        let approvals = new Approvals();
        const idOf = new Map<string, string>();
        for (const steps of runs) {
          for (const [n, stepName] of steps) {
            const key = `${stepName}/${n}`;
            approvals.ask(key, { ...refund, name: stepName });
            const id = approvals.carry().asked.find(([asked]) => asked === key)![1].id;
            expect(idOf.get(key) ?? id).toBe(id);
            idOf.set(key, id);
          }
          approvals = new Approvals(JSON.parse(JSON.stringify(approvals.carry())));
        }
        expect(new Set(idOf.values()).size).toBe(idOf.size);
      }),
    );
  });
});

describe('an approval with a timeout', () => {
  const until5s = { ...refund, timeoutMs: 4_000 };

  test('says when it ends, which stays over a restart and into the next run', () => {
    const approvals = new Approvals();
    expect(approvals.ask('k1', { ...until5s, audience: 'finance' })).toBe(5_000);
    expect(approvals.ask('k1', { ...until5s, at: 3_000 })).toBe(5_000);
    expect(approvals.pending(always)).toMatchObject([{ askedAt: 1_000, expiresAt: 5_000 }]);
    const next = new Approvals(JSON.parse(JSON.stringify(approvals.carry())));
    expect(next.ask('k1', { ...until5s, at: 4_000 })).toBe(5_000);
  });

  test.each([
    [undefined, { approved: false, reason: 'issue_refund was not approved: nobody decided in time.' }],
    [
      'reject' as const,
      { approved: false, reason: 'issue_refund was not approved: nobody decided in time.' },
    ],
    ['approve' as const, { approved: true }],
  ])('is then decided by its rule, %p, and answers come too late', (onTimeout, decision) => {
    const approvals = new Approvals();
    approvals.ask('k1', { ...until5s, ...(onTimeout && { onTimeout }) });
    approvals.expire('k1', 5_000);
    expect(approvals.decision('k1')).toEqual({ ...decision, timedOut: true, at: 5_000 });
    expect(decide(approvals, 'approve', { id: 'issue_refund-1' }, 6_000)).toBe(
      `"issue_refund-1" was already ${decision.approved ? 'approved' : 'rejected'} by timeout at 1970-01-01T00:00:05.000Z`,
    );
  });

  test('that a person decided in time is not decided again', () => {
    const approvals = new Approvals();
    approvals.ask('k1', until5s);
    decide(approvals, 'approve', { id: 'issue_refund-1', by: 'ann' }, 4_999);
    approvals.expire('k1', 5_000);
    expect(approvals.decision('k1')).toEqual({ approved: true, by: 'ann', at: 4_999 });
  });
});

describe('a decision', () => {
  test.each([
    ['approve', true],
    ['reject', false],
  ])('%s is kept with who, why and when, and closes the approval', (signal, approved) => {
    const approvals = asking('k1');
    expect(
      decide(approvals, signal, { id: 'issue_refund-1', by: 'ana', reason: 'checked' }, 5_000),
    ).toBeUndefined();
    expect(approvals.decision('k1')).toEqual({ approved, by: 'ana', reason: 'checked', at: 5_000 });
    expect(approvals.pending(always)).toEqual([]);
    expect(approvals.refused).toEqual([]);
  });

  test('stands: a second one is refused, and says who decided and when', () => {
    const approvals = asking('k1');
    decide(approvals, 'approve', { id: 'issue_refund-1', by: 'ana' }, 5_000);
    expect(decide(approvals, 'reject', { id: 'issue_refund-1' }, 6_000)).toBe(
      '"issue_refund-1" was already approved by ana at 1970-01-01T00:00:05.000Z',
    );
    expect(approvals.decision('k1')).toEqual({ approved: true, by: 'ana', at: 5_000 });
  });

  test('for one of several waits for no other: they are answered in any order', () => {
    const approvals = asking('k1', 'k2', 'k3');
    decide(approvals, 'approve', { id: 'issue_refund-3' }, 1);
    decide(approvals, 'reject', { id: 'issue_refund-1' }, 2);
    expect(approvals.pending(always).map(({ id }) => id)).toEqual(['issue_refund-2']);
    expect(['k1', 'k2', 'k3'].map((key) => approvals.decision(key)?.approved)).toEqual([
      false,
      undefined,
      true,
    ]);
  });

  test('for an approval that nobody waits for any more is refused', () => {
    const approvals = asking('k1');
    approvals.close('k1');
    expect(decide(approvals, 'approve', { id: 'issue_refund-1' }, 1)).toBe(
      '"issue_refund-1" does not wait any more',
    );
    expect(approvals.decision('k1')).toBeUndefined();
    expect(approvals.pending(always)).toEqual([]);
  });

  test('that a step has not used yet goes over to the next run of the chain', () => {
    const approvals = asking('k1', 'k2');
    decide(approvals, 'approve', { id: 'issue_refund-1', by: 'ana' }, 5_000);
    const next = new Approvals(approvals.carry());
    next.ask('k1', refund);
    next.ask('k2', refund);
    expect(next.decision('k1')).toEqual({ approved: true, by: 'ana', at: 5_000 });
    expect(next.pending(always).map(({ id }) => id)).toEqual(['issue_refund-2']);
  });

  test('that comes right after continue-as-new, before the next loop asks, is taken', () => {
    const next = new Approvals(asking('k1').carry());
    expect(decide(next, 'approve', { id: 'issue_refund-1' }, 7_000)).toBeUndefined();
    next.ask('k1', refund);
    expect(next.decision('k1')).toEqual({ approved: true, at: 7_000 });
  });

  test('still waited for right after continue-as-new is shown as such', () => {
    const next = new Approvals(asking('k1').carry());
    expect(next.pending(() => false)).toMatchObject([
      { id: 'issue_refund-1', name: 'issue_refund', prompt: 'Refund $5?', askedAt: 1_000, withdrawn: true },
    ]);
  });
});

describe('what arrives by signal', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'issue_refund-1'],
    ['a list', ['issue_refund-1']],
    ['no id', { ids: 'issue_refund-1' }],
    ['a number as id', { id: 1 }],
  ])('with %s is refused and says what waits', (_what, payload) => {
    const approvals = asking('k1', 'k2');
    expect(decide(approvals, 'approve', payload, 1)).toBe(
      'it has no "id"; what waits: issue_refund-1, issue_refund-2',
    );
    expect(approvals.pending(always)).toHaveLength(2);
  });

  test('that nobody can read is refused, and says why', () => {
    const approvals = asking('k1');
    const reason = decide(approvals, 'approve', new Unreadable('Unknown encoding: binary/encrypted'), 1);
    expect(reason).toBe('it cannot be read (Unknown encoding: binary/encrypted); what waits: issue_refund-1');
    expect(approvals.pending(always)).toHaveLength(1);
  });

  test('with an id that nothing has is refused, its text cut', () => {
    const reason = decide(new Approvals(), 'approve', { id: 'x'.repeat(1_000) }, 1)!;
    expect(reason).toContain('nothing here has the id "xxx');
    expect(reason).toContain('what waits: nothing');
    expect(reason.length).toBeLessThan(150);
  });

  test('never throws, never decides anything but the approval it names, and is kept only a little', () => {
    const ids = fc.constantFrom('issue_refund-1', 'issue_refund-2', 'toString', '__proto__', '');
    const payload = fc.oneof(
      fc.anything(),
      fc.record(
        { id: fc.oneof(ids, fc.anything()), by: fc.anything(), reason: fc.anything() },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('approve', 'reject'), payload)), (signals) => {
        const approvals = asking('k1', 'k2');
        for (const [signal, given] of signals) decide(approvals, signal, given, 1);
        expect(approvals.refused.length).toBeLessThanOrEqual(20);
        for (const [n, key] of ['k1', 'k2'].entries()) {
          const first = signals.find(
            ([, given]) => (given as { id?: unknown } | undefined | null)?.id === `issue_refund-${n + 1}`,
          );
          expect(approvals.decision(key)?.approved).toBe(first && first[0] === 'approve');
        }
      }),
    );
  });

  test('leaves only texts of a bounded length in the decision', () => {
    const approvals = asking('k1', 'k2');
    decide(
      approvals,
      'reject',
      { id: 'issue_refund-1', by: { admin: true }, reason: 'n'.repeat(9_000), approved: true },
      1,
    );
    const decision = approvals.decision('k1')!;
    expect(decision).toEqual({ approved: false, reason: 'n'.repeat(2_000), at: 1 });
  });
});

test('an approval that the present loop has not asked for is shown as withdrawn', () => {
  const approvals = asking('k1', 'k2');
  const shown = approvals.pending((key) => key === 'k2');
  expect(shown.map(({ id, withdrawn }) => [id, withdrawn])).toEqual([
    ['issue_refund-1', true],
    ['issue_refund-2', undefined],
  ]);
});

describe('an approval that nobody decides in time', () => {
  const escalating = {
    ...refund,
    timeoutMs: 100,
    audience: 'support',
    escalate: { audience: 'finance', timeoutMs: 500, onTimeout: 'approve' as const },
  };

  test('is put to others, who have a time of their own, and only then decided', () => {
    const approvals = new Approvals();
    expect(approvals.ask('k1', escalating)).toBe(1_100);
    expect(approvals.expire('k1', 1_100)).toBe(1_600);
    expect(approvals.pending(always)).toMatchObject([
      { id: 'issue_refund-1', audience: 'finance', expiresAt: 1_600 },
    ]);
    expect(approvals.ask('k1', { ...escalating, at: 1_200 })).toBe(1_600);
    expect(approvals.expire('k1', 1_600)).toBeUndefined();
    expect(approvals.decision('k1')).toMatchObject({ approved: true, timedOut: true });
  });

  test('stays with the others in the next run of the chain, also for ever', () => {
    const approvals = new Approvals();
    approvals.ask('k1', { ...escalating, escalate: { audience: 'finance' } });
    expect(approvals.expire('k1', 1_100)).toBeUndefined();
    expect(approvals.decision('k1')).toBeUndefined();
    const next = new Approvals(JSON.parse(JSON.stringify(approvals.carry())));
    expect(next.ask('k1', escalating)).toBeUndefined();
    expect(next.pending(always)).toMatchObject([{ audience: 'finance' }]);
    expect(next.pending(always)[0]).not.toHaveProperty('expiresAt');
  });
});
