/** What model turns took: sums over records, which are made anew whenever they are asked for. */
import type { StepRecord } from '../protocol/step.ts';
import { addUsage, type Spent } from '../protocol/usage.ts';

export function nothingSpent(): Spent {
  return { turns: 0, usage: { input: 0, output: 0 }, usd: 0, unpriced: [] };
}

/** The turns among these records, each as often as is said. */
export function spentOn(records: readonly StepRecord[], times = (_record: StepRecord) => 1): Spent {
  const sum = nothingSpent();
  for (const record of records) {
    if (!record.usage) continue;
    for (let n = times(record); n > 0; n--) {
      sum.turns++;
      sum.usage = addUsage(sum.usage, record.usage);
      sum.usd += record.usd ?? 0;
    }
    if (record.usd === undefined && times(record) > 0 && !sum.unpriced.includes(record.name))
      sum.unpriced.push(record.name);
  }
  return sum;
}

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    turns: a.turns + b.turns,
    usage: addUsage(a.usage, b.usage),
    usd: a.usd + b.usd,
    unpriced: [...new Set([...a.unpriced, ...b.unpriced])].slice(0, 20),
  };
}
