import { describe, expect, test } from '@jest/globals';
import type { RunTree } from '../../src/report/collect.ts';
import { pageOf } from '../../src/report/page.ts';
import { duration, shown, spentBy, viewOf } from '../../src/report/view.ts';
import type { ReportStep } from '../../src/protocol/report.ts';
import { nothingSpent } from '../../src/records/spent.ts';

const step = (more: Partial<ReportStep> = {}): ReportStep => ({
  no: 0,
  key: 'k',
  kind: 'tool',
  name: 'look',
  askedAt: 1_000,
  answeredAt: 2_000,
  attempts: 1,
  bytes: 2,
  ...more,
});
const tree = (steps: ReportStep[], more: Partial<RunTree> = {}): RunTree => ({
  report: {
    agent: 'explorer',
    workflowId: 'w',
    runId: 'r',
    total: steps.length,
    from: 0,
    steps,
    inFlight: [],
    usage: {
      own: { turns: 1, usage: { input: 1_000, output: 10 }, usd: 1, unpriced: [] },
      children: nothingSpent(),
      lost: nothingSpent(),
      replayed: { ...nothingSpent(), restarts: 0, ms: 0 },
      before: nothingSpent(),
      cached: { calls: 0, durationMs: 0 },
    },
    waiting: { approvals: [], questions: [], refused: [] },
    decisions: [],
  },
  status: 'COMPLETED',
  startedAt: 0,
  closedAt: 10_000,
  namespace: 'default',
  children: [],
  unread: [],
  ...more,
});

describe('what is shown of a run', () => {
  test('has a bar for each step, where it was in the run', () => {
    const { rows } = viewOf(tree([step(), step({ no: 1, askedAt: 9_000, answeredAt: 10_000 })]), 0);
    expect(rows.map(({ left, width, ms }) => [left, width, ms])).toEqual([
      [10, 10, 1_000],
      [90, 10, 1_000],
    ]);
  });

  test('says why a step is not what one would expect', () => {
    const cached = { workflowId: 'other', runId: 'r', at: 1, durationMs: 16_600 };
    const { rows } = viewOf(
      tree([
        step({ attempts: 3, cached, edited: '{"usd":5}' }),
        step({
          kind: 'turn',
          missed: ['instructions', 'tools'],
          lost: 2,
          paidBefore: true,
          beforeChange: true,
        }),
      ]),
      0,
    );
    expect(rows.map(({ notes }) => notes)).toEqual([
      [
        'started 3 times',
        'from the cache, of other, where it took 16.6 s',
        'a person changed the arguments to {"usd":5}',
      ],
      [
        '2 attempts vanished with their worker; perhaps charged',
        'asked anew: instructions, tools changed',
        'from before the code changed',
        'paid by the run before',
      ],
    ]);
  });

  test('counts each run below it once', () => {
    const child = tree([]);
    child.report.workflowId = 'w/c';
    expect(spentBy(viewOf(tree([], { children: [child, child] }), 0))).toMatchObject({ turns: 3, usd: 3 });
  });

  test.each([
    [999, '999 ms'],
    [16_600, '16.6 s'],
    [5_400_000, '1.5 h'],
    [30 * 86_400_000, '30.0 days'],
  ])('says how long %d ms are', (ms, text) => expect(duration(ms)).toBe(text));
});

describe('text of a model, a tool or a person', () => {
  test('has no control characters, and does not turn around', () => {
    expect(shown('a\u001b[31mred\u0007\u202eevil\u2066\nb')).toBe('a␛[31mred␛evil b');
  });

  test('stays text in the page', () => {
    const hostile = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>[x](javascript:alert(1))&lt;';
    const page = pageOf(
      viewOf(
        tree(
          [
            step({ name: hostile, asked: hostile, answer: hostile }),
            step({ failure: { name: hostile, message: hostile } }),
          ],
          {
            unread: [{ workflowId: hostile, why: hostile }],
          },
        ),
        0,
      ),
    );
    expect(page).not.toMatch(/<script|<img/);
    expect(page.match(/&lt;script>/g)!.length).toBeGreaterThanOrEqual(6);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });
});

test('the page of three thousand steps is one file without script, of a few MB', () => {
  const many = Array.from({ length: 3_000 }, (_, no) =>
    step({ no, answer: 'x'.repeat(300), asked: 'y'.repeat(100) }),
  );
  const page = pageOf(viewOf(tree(many), 0));
  expect(page.match(/<details/g)).toHaveLength(3_000);
  expect(page.length).toBeLessThan(5_000_000);
  expect(page).not.toMatch(/<script|https?:\/\//);
});
