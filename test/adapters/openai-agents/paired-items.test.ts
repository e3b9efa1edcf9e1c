import { expect, test } from '@jest/globals';
import type { AgentInputItem } from '@openai/agents';
import fc from 'fast-check';
import { pairedItems } from '../../../adapters/openai-agents/paired-items.ts';

const callId = fc.constantFrom('a', 'b', 'c');
const kinds = [
  ['function_call', 'function_call_result'],
  ['computer_call', 'computer_call_result'],
  ['shell_call', 'shell_call_output'],
  ['apply_patch_call', 'apply_patch_call_output'],
] as const;
const item = fc.oneof(
  fc.constantFrom(
    { role: 'user' },
    { role: 'assistant' },
    { type: 'reasoning' },
    { type: 'hosted_tool_call' },
  ),
  fc.tuple(fc.constantFrom(...kinds.flat()), callId).map(([type, id]) => ({ type, callId: id })),
);
const items = fc.array(item, { maxLength: 20 }) as unknown as fc.Arbitrary<AgentInputItem[]>;
interface AnyItem {
  type?: string;
  role?: string;
  callId?: string;
}

test('each call has its result after it, each result its call before it, and reasoning what came of it', () => {
  fc.assert(
    fc.property(items, (given) => {
      const paired = pairedItems(given) as AnyItem[];
      const open = new Set<string>();
      for (const [index, { type = '', callId: id }] of paired.entries()) {
        const kind = kinds.findIndex((pair) => pair.some((each) => each === type));
        if (kind >= 0 && type === kinds[kind]![0]) open.add(`${kind} ${id}`);
        else if (kind >= 0) expect(open.delete(`${kind} ${id}`)).toBe(true);
        if (type !== 'reasoning') continue;
        const next = paired.slice(index + 1).find((each) => each.type !== 'reasoning');
        expect(next).toBeDefined();
        expect(next!.role).not.toBe('user');
      }
      expect([...open]).toEqual([]);
      expect(pairedItems(paired as AgentInputItem[])).toEqual(paired);
    }),
    { numRuns: 500 },
  );
});
