import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ask } from '../../src/index.ts';
import { Approvals } from '../../src/records/approvals.ts';
import { decide } from '../kit/decide.ts';
import { PretendRun } from '../kit/pretend-run.ts';

const always = () => true;
const yesOrNo = { name: 'ship', prompt: 'Ship?', answer: { type: 'boolean' }, at: 1_000 };

function asking(...keys: string[]): Approvals {
  const approvals = new Approvals();
  for (const key of keys) approvals.ask(key, yesOrNo);
  return approvals;
}

describe('an answer', () => {
  test('that fits is the decision', () => {
    const approvals = asking('k1');
    expect(approvals.questions(always)).toEqual([
      { id: 'ship-1', prompt: 'Ship?', askedAt: 1_000, schema: { type: 'boolean' } },
    ]);
    expect(approvals.pending(always)).toEqual([]);
    expect(decide(approvals, 'answer', { id: 'ship-1', value: false, by: 'ann' }, 2_000)).toBeUndefined();
    expect(approvals.decision('k1')).toEqual({ approved: true, value: false, by: 'ann', at: 2_000 });
    expect(approvals.questions(always)).toEqual([]);
  });

  test.each([
    [{ id: 'ship-1', value: 'yes' }, /does not fit: .*"string"/],
    [{ id: 'ship-1' }, /it has no "value"/],
    [{ id: 'ship-1', value: 'x'.repeat(300_000) }, /it has 300002 bytes; the limit is 262144/],
    [{ id: 'other', value: true }, /nothing here has the id "other"; what waits: ship-1/],
    ['true', /it has no "id"; what waits: ship-1/],
  ])('that does not fit is refused with the reason, and the question stays: %#', (payload, reason) => {
    const approvals = asking('k1');
    expect(decide(approvals, 'answer', payload, 2_000)).toMatch(reason);
    expect(approvals.questions(always)).toHaveLength(1);
  });

  test('needs no id where only one question was ever asked', () => {
    const one = asking('k1');
    expect(decide(one, 'answer', { value: true }, 2_000)).toBeUndefined();
    expect(decide(one, 'answer', { value: true }, 3_000)).toMatch(/"ship-1" was already answered at/);
    const two = asking('k1', 'k2');
    expect(decide(two, 'answer', { value: true }, 2_000)).toBe('it has no "id"; what waits: ship-1, ship-2');
  });

  test('is no approval, and an approval no answer', () => {
    const approvals = asking('k1');
    approvals.ask('k2', { name: 'refund', prompt: 'Refund?', at: 1_000 });
    expect(decide(approvals, 'approve', { id: 'ship-1' }, 2_000)).toBe(
      '"ship-1" is a question: send "answer" with a "value"',
    );
    expect(decide(approvals, 'answer', { id: 'refund-1', value: true }, 2_000)).toBe(
      '"refund-1" is to be approved: send "approve" or "reject"',
    );
  });

  test('is taken in the next run of a chain', () => {
    const next = new Approvals(JSON.parse(JSON.stringify(asking('k1').carry())));
    expect(next.questions(always)).toMatchObject([{ id: 'ship-1', schema: { type: 'boolean' } }]);
    expect(decide(next, 'answer', { value: 1 }, 2_000)).toMatch(/does not fit/);
    expect(decide(next, 'answer', { value: true }, 2_000)).toBeUndefined();
    const over = new Approvals(JSON.parse(JSON.stringify(next.carry())));
    expect(over.decision('k1')).toMatchObject({ value: true });
    expect(decide(over, 'answer', { value: false }, 3_000)).toMatch(/already answered/);
  });
});

describe('ask', () => {
  const asked = async (body: () => Promise<unknown>, ...values: unknown[]) => {
    const run = new PretendRun(body);
    const prompts: string[] = [];
    for (const value of values) {
      const { steps = [] } = await run.advance();
      prompts.push(steps[0]!.approval!.prompt);
      run.answer(steps[0]!.key, value);
    }
    const { end } = await run.advance();
    return { prompts, end };
  };

  test('asks with the JSON Schema of what fits, and gives the answer as the schema makes it', async () => {
    const schema = z.object({ at: z.iso.date().transform((text) => new Date(text).getFullYear()) });
    const { prompts, end } = await asked(async () => await ask({ prompt: 'When?', schema }), {
      approved: true,
      value: { at: '2026-05-01' },
    });
    expect(prompts).toEqual(['When?']);
    expect(end).toEqual({ output: { at: 2026 } });
  });

  test('asks again with the reason, where the answer fits its JSON Schema but not what it says beyond', async () => {
    const schema = z.number().refine((n) => n % 2 === 0, 'must be even');
    const body = async () => await ask({ prompt: 'How many?', schema });
    const { prompts, end } = await asked(body, { approved: true, value: 3 }, { approved: true, value: 4 });
    expect(prompts).toEqual(['How many?', 'How many?\n\nThe answer before did not fit: must be even']);
    expect(end).toEqual({ output: 4 });
  });

  test('throws by name when nobody answered, and where nobody can', async () => {
    const body = async () => await ask({ prompt: 'Ship?', timeout: '1 day' });
    const { end } = await asked(body, { approved: false, timedOut: true, reason: 'nobody decided in time.' });
    expect(end).toMatchObject({ final: true, failure: { name: 'AnswerTimeoutError' } });
    await expect(ask({ prompt: 'Ship?' })).rejects.toMatchObject({ name: 'UnsupportedError' });
    await expect(ask({ prompt: '' })).rejects.toMatchObject({ name: 'DeclarationError' });
    await expect(ask({ prompt: 'Ship?', name: 'no way' })).rejects.toMatchObject({
      name: 'DeclarationError',
    });
    await expect(ask({ prompt: 'Ship?', timeot: 1 } as never)).rejects.toThrow(/no option "timeot"/);
  });
});
