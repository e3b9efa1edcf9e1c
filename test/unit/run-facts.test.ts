import { expect, test } from '@jest/globals';
import type { PendingApproval, PendingQuestion } from '../../src/protocol/signals.ts';
import { changedValues, factsOf, isWorthTelling, valuesOf } from '../../src/records/run-facts.ts';

const approval = (more: Partial<PendingApproval> = {}): PendingApproval => ({
  id: 'pay-1',
  name: 'pay',
  prompt: 'Pay?',
  askedAt: 0,
  ...more,
});
const question: PendingQuestion = {
  id: 'ask-1',
  prompt: 'How?',
  askedAt: 0,
  schema: {},
  audience: 'support',
};
const spent = (usd: number, input: number, turns = 1) => ({
  turns,
  usage: { input, output: 1 },
  usd,
  unpriced: [],
});
const facts = (approvals: PendingApproval[], questions: PendingQuestion[] = []) =>
  factsOf({ approvals, questions }, spent(0.5, 10), 3);

test('say what waits and for whom, each once, in an order of their own', () => {
  expect(facts([])).toEqual({ turns: 1, usd: 0.5, tokens: 11, changes: 3 });
  const audience = 'finance';
  expect(facts([approval({ audience }), approval({ audience, escalated: true })], [question])).toMatchObject({
    waiting: ['approval', 'escalated', 'question'],
    audience: ['finance', 'support'],
  });
});

test('fit what a server takes, whatever a child or an agent says', () => {
  const many = Array.from({ length: 50 }, (_, i) => approval({ audience: `${i} ${'€'.repeat(1_000)}` }));
  const { audience = [] } = facts(many);
  expect(audience.length).toBeGreaterThan(0);
  expect(audience.every((each) => each.length <= 255)).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(audience))).toBeLessThan(2_048);
  const { tokens, usd, turns } = factsOf({ approvals: [], questions: [] }, spent(1e308, 1e300, 2.4), 0);
  expect([tokens, usd, turns]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 2]);
});

test('are told when they are others than the server has; what was spent, after many turns', () => {
  const wanted = valuesOf('payer', facts([]));
  expect(changedValues(wanted, {})).toEqual(['AgentName', 'AgentCostUsd', 'AgentTokens']);
  expect(changedValues(wanted, { ...wanted, AgentWaiting: [], AgentAudience: [] })).toEqual([]);
  expect(changedValues(wanted, { ...wanted, AgentWaiting: ['approval'] })).toEqual(['AgentWaiting']);
  const spending = changedValues(wanted, { ...wanted, AgentCostUsd: 0.4, AgentTokens: 1 });
  expect([19, 20].map((turns) => isWorthTelling(spending, turns))).toEqual([false, true]);
  expect(isWorthTelling([...spending, 'AgentWaiting'], 0)).toBe(true);
  expect(isWorthTelling([], 100)).toBe(false);
});
