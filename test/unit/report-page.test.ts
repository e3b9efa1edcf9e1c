import { describe, expect, test } from '@jest/globals';
import { pageOf } from '../../src/report/page.ts';
import { duration } from '../../src/records/numbers.ts';
import { shown } from '../../src/report/text.ts';
import { spentBy, viewOf } from '../../src/report/view.ts';
import { EFFECTS, HOSTILE_PARTS } from '../kit/hostile.ts';
import { reportStep, runTree } from '../kit/report-tree.ts';

describe('the rows of a run', () => {
  test('have a bar for each step, where it was in the run, in the order in which they were asked', () => {
    const { rows } = viewOf(
      runTree([
        reportStep({ name: 'late', askedAt: 2_000, answeredAt: 3_000 }),
        reportStep({ no: 1, name: 'beside', askedAt: 1_500, answeredAt: 10_000 }),
      ]),
      0,
    );
    expect(rows.slice(1).map(({ no, name, bars, ms }) => [no, name, bars, ms])).toEqual([
      [2, 'beside', [{ left: 15, width: 85, look: 'tool' }], 8_500],
      [1, 'late', [{ left: 20, width: 10, look: 'tool' }], 1_000],
    ]);
  });

  test('have one for the time in which nothing was under way, at its beginning and end too', () => {
    const { rows } = viewOf(
      runTree([reportStep(), reportStep({ no: 1, askedAt: 7_000, answeredAt: 8_500 })]),
      0,
    );
    expect(rows.map(({ name, bars: [bar], ms }) => [name, bar!.left, bar!.width, ms])).toEqual([
      ['nothing was under way', 0, 10, 1_000],
      ['look', 10, 10, 1_000],
      ['nothing was under way', 20, 50, 5_000],
      ['look', 70, 15, 1_500],
      ['nothing was under way', 85, 15, 1_500],
    ]);
  });

  test('tell what only waited from what was done', () => {
    const { rows } = viewOf(
      runTree([
        reportStep({ kind: 'sleep', askedAt: 0, answeredAt: 1_000 }),
        reportStep({ kind: 'message', askedAt: 0, answeredAt: 10_000 }),
        reportStep({ kind: 'tool', askedAt: 1_000, decidedAt: 8_000, answeredAt: 10_000 }),
      ]),
      0,
    );
    expect(
      rows.map(({ kind, bars, notes }) => [kind, bars.map(({ look, width }) => [look, width]), notes]),
    ).toEqual([
      ['sleep', [['wait', 10]], []],
      ['message', [['wait', 100]], []],
      [
        'tool',
        [
          ['wait', 70],
          ['tool', 20],
        ],
        ['waited 7.0 s for a decision'],
      ],
    ]);
  });

  test('show what is under way as bars up to now', () => {
    const { rows, bar } = viewOf(
      runTree(
        [reportStep({ askedAt: 0, answeredAt: 10_000 })],
        { status: 'RUNNING', closedAt: undefined as never },
        {
          inFlight: [
            { kind: 'turn', name: 'gpt', askedAt: 10_000 },
            { kind: 'approval', name: 'refund', askedAt: 15_000 },
          ],
        },
      ),
      20_000,
    );
    expect(bar).toMatchObject({ look: 'agent open', width: 100 });
    expect(rows.slice(1).map(({ no, bars, ms }) => [no, bars[0], ms])).toEqual([
      [undefined, { left: 50, width: 50, look: 'turn open' }, 10_000],
      [undefined, { left: 75, width: 25, look: 'wait open' }, 5_000],
    ]);
  });

  test('begin with the first history of the chain, and not with what another run paid', () => {
    const { timeline } = viewOf(
      runTree([reportStep({ askedAt: -9_000, paidBefore: true }), reportStep({ no: 1, askedAt: -5_000 })]),
      0,
    );
    expect([timeline.from, timeline.ms]).toEqual([-5_000, 15_000]);
  });

  test('say why a step is not what one would expect', () => {
    const cached = { workflowId: 'other', runId: 'r', at: 1, durationMs: 16_600 };
    const { rows } = viewOf(
      runTree([
        reportStep({ askedAt: 0, attempts: 3, cached, edited: '{"usd":5}', answeredAt: 10_000 }),
        reportStep({
          no: 1,
          kind: 'turn',
          missed: ['instructions', 'tools'],
          lost: 2,
          paidBefore: true,
          beforeChange: true,
        }),
        reportStep({ no: 2, askedAt: 2_000, answeredAt: 18_600, replayed: 2 }),
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
        '2 attempts vanished with the worker; perhaps charged',
        'asked anew: instructions, tools changed',
        'from before the code changed',
        'paid by the run before',
      ],
      ['given again from its record 2 times; it took 16.6 s when it ran'],
    ]);
  });

  test('say what was asked, attempts, tokens, cost and bytes when they are opened', () => {
    const { rows } = viewOf(
      runTree([
        reportStep({
          askedAt: 0,
          answeredAt: 10_000,
          attempts: 2,
          asked: 'What of it?',
          answer: '"nothing"',
          bytes: 12_345,
          usage: { input: 1_000, output: 100, cacheRead: 400, reasoning: 30 },
          usd: 0.00123,
        }),
      ]),
      0,
    );
    expect(rows[0]!.facts).toEqual([
      ['Asked', 'What of it?'],
      ['Answered', '"nothing"'],
      ['Tokens', "1,000 in (400 from the provider's cache), 100 out (30 reasoning)"],
      ['Cost', '$0.00123'],
      ['Attempts', '2'],
      ['Size', '12,345 bytes'],
      ['Began', '0 ms after the beginning, 1970-01-01T00:00:00.000Z'],
    ]);
  });
});

describe('a run and those below it', () => {
  const child = runTree([], { startedAt: 5_000, closedAt: 10_000 }, { workflowId: 'w/c', agent: 'scout' });

  test('are linked both ways, the step and the child that answered it', () => {
    const view = viewOf(
      runTree(
        [reportStep({ kind: 'agent', child: 'w/c' }), reportStep({ no: 1, kind: 'agent', child: 'w/d' })],
        {
          children: [child],
          unread: [{ workflowId: 'w/d', why: 'no worker' }],
        },
      ),
      0,
      'http://ui.example',
    );
    const steps = view.rows.filter((row) => row.child);
    expect(steps.map((row) => row.child)).toEqual([
      { workflowId: 'w/c', id: 'run-w_2f_c' },
      { workflowId: 'w/d' },
    ]);
    expect(view.children[0]).toMatchObject({
      id: 'run-w_2f_c',
      parent: steps[0]!.id,
      bar: { left: 50, width: 50 },
      link: 'http://ui.example/namespaces/default/workflows/w%2Fc/r',
    });
    const page = pageOf(view);
    for (const each of [steps[0]!.id, 'run-w_2f_c']) {
      expect(page).toContain(`id="${each}"`);
      expect(page).toContain(`href="#${each}"`);
    }
    expect(page).toContain('w/d<em>not read: no worker</em>');
    expect(page).toContain('without 1 run that could not be read');
  });

  test('are each counted once', () => {
    const other = runTree([], {}, { workflowId: 'w/d' });
    expect(spentBy(viewOf(runTree([], { children: [child, other] }), 0))).toMatchObject({ turns: 3, usd: 3 });
  });

  test('say how they ended, and what waits', () => {
    const view = viewOf(
      runTree(
        [],
        {
          status: 'TIMED_OUT',
          ended: 'AgentError: a bug',
          children: [runTree([], {}, { workflowId: 'w/c' })],
        },
        {
          inFlight: [
            { kind: 'sleep', name: 'sleep', askedAt: 0 },
            { kind: 'message', name: 'inbox', askedAt: 0 },
          ],
          waiting: {
            approvals: [
              { id: 'refund-1', name: 'refund', prompt: 'Refund $5?', askedAt: 0, audience: 'support' },
            ],
            questions: [],
            refused: [],
          },
        },
      ),
      60_000,
    );
    expect(view.status).toBe('timed out');
    expect(view.waits).toEqual(['refund-1: Refund $5? (for 60.0 s, for support to decide)']);
    const page = pageOf(view);
    expect(page).toContain('AgentError: a bug');
    expect(page).toContain('0 steps, waits for 1 decision, sleeps, waits for a message');
  });
});

test('no two workflow ids have one place in the page', () => {
  const places = ['a/b', 'a_b', 'a_2f_b', 'a b', 'A/b'].map(
    (workflowId) => viewOf(runTree([], {}, { workflowId }), 0).id,
  );
  expect(new Set(places).size).toBe(places.length);
});

test.each([
  [999, '999 ms'],
  [16_600, '16.6 s'],
  [150_000, '2.5 min'],
  [5_400_000, '1.5 h'],
  [30 * 86_400_000, '30.0 days'],
])('%d ms are said as %s', (ms, text) => expect(duration(ms)).toBe(text));

describe('text of a model, a tool or a person', () => {
  test('has no control characters, does not turn around, and is short', () => {
    expect(shown('a\u001b[31mred\u0007\u202eevil\u2066\n\u200fb')).toBe('a␛[31mred␛evil b');
    expect(shown('a\ud800b')).toBe('a\ufffdb');
    expect(shown('x'.repeat(10_000_000))).toHaveLength(401);
  });

  test.each(Object.entries(HOSTILE_PARTS))('stays text in the page, wherever it is: %s', (_what, hostile) => {
    const spent = { turns: 1, usage: { input: 1, output: 1 }, usd: 0, unpriced: [hostile] };
    const pending = { id: hostile, name: hostile, prompt: hostile, askedAt: 0, audience: hostile };
    const decided = { id: hostile, name: hostile, by: hostile, note: hostile, reason: hostile, at: 0 };
    const page = (text: string) =>
      pageOf(
        viewOf(
          runTree(
            [
              reportStep({
                name: text,
                asked: text,
                answer: text,
                edited: text,
                missed: [text],
                child: text,
              }),
              reportStep({ failure: { name: text, message: text } }),
              reportStep({ cached: { workflowId: text, runId: text, at: 1, durationMs: 1 } }),
            ],
            { status: text, ended: text, unread: [{ workflowId: text, why: text }] },
            {
              agent: text,
              workflowId: text,
              waiting: { approvals: [pending], questions: [{ ...pending, schema: {} }], refused: [] },
              decisions: [{ ...decided, decision: 'approved' }],
              inFlight: [{ kind: 'tool', name: text, askedAt: 0, child: text }],
              usage: { ...runTree([]).report.usage, own: spent, priceTable: text },
            },
          ),
          0,
          'http://ui.example',
        ),
      );
    // As many tags, whatever the text: none is made of it, and it ends none.
    const tags = (html: string) => html.match(/<\/?[a-z]+/gi)!.toSorted();
    expect(tags(page(hostile))).toEqual(tags(page('harmless')));
    expect(page(hostile)).not.toMatch(EFFECTS);
  });

  test('of 10 MB is a page of a few KB', () => {
    const much = '<b>'.repeat(3_000_000);
    const approvals = [{ id: much, name: much, prompt: much, askedAt: 0 }];
    const page = pageOf(
      viewOf(
        runTree(
          [reportStep({ name: much, asked: much, answer: much })],
          { ended: much },
          {
            waiting: { approvals, questions: [], refused: [] },
          },
        ),
        0,
      ),
    );
    expect(page.length).toBeLessThan(40_000);
  });
});

test('the page of three thousand steps is one file without script, of a few MB', () => {
  const many = Array.from({ length: 3_000 }, (_, no) =>
    reportStep({ no, answer: 'x'.repeat(300), asked: 'y'.repeat(100) }),
  );
  const page = pageOf(viewOf(runTree(many), 0));
  expect(page.match(/<details/g)).toHaveLength(3_000);
  expect(page.length).toBeLessThan(5_000_000);
  expect(page).not.toMatch(/<script|https?:\/\//);
  process.stdout.write(`3,000 steps: a page of ${page.length} bytes\n`);
});
