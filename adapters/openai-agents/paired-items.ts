/** What of a conversation a provider takes: calls with their results, results with their calls. */
import type { AgentInputItem } from '@openai/agents';

/** By the type of a call, the type of what answers it. */
const RESULTS: Record<string, string> = {
  function_call: 'function_call_result',
  computer_call: 'computer_call_result',
  shell_call: 'shell_call_output',
  apply_patch_call: 'apply_patch_call_output',
};
const RESULT_TYPES = new Set(Object.values(RESULTS));

interface AnyItem {
  type?: string;
  role?: string;
  callId?: string;
}

/**
 * The items without calls that have no result, results that have no call before them, and reasoning of which the rest is
 * missing: what a run leaves that ends between a call and its result.
 * @param open Leaves calls after the last message of a user alone, as a run that waits for a person needs them. The SDK
 *   itself leaves them out once there is a new message.
 */
export function pairedItems(
  items: readonly AgentInputItem[],
  { open = false }: { open?: boolean } = {},
): AgentInputItem[] {
  const all = items as readonly AnyItem[];
  const last = all.findLastIndex(({ role }) => role === 'user');
  const unpaired = new Set<number>();
  const waiting = new Map<string, number>();
  for (const [index, item] of all.entries()) {
    const result = RESULTS[item.type ?? ''];
    if (result !== undefined) {
      waiting.set(`${result} ${item.callId}`, index);
      unpaired.add(index);
    } else if (isResult(item)) {
      const call = `${item.type} ${item.callId}`;
      if (waiting.has(call)) unpaired.delete(waiting.get(call)!);
      else unpaired.add(index);
      waiting.delete(call);
    }
  }
  if (open) for (const index of waiting.values()) if (index > last) unpaired.delete(index);
  const paired = all.filter((_item, index) => !unpaired.has(index));
  return withoutLoneReasoning(paired, open) as AgentInputItem[];
}

function isResult({ type }: AnyItem): boolean {
  return RESULT_TYPES.has(type ?? '');
}

/** Reasoning is sent with what came of it: a message of the model, or a call. */
function withoutLoneReasoning(items: readonly AnyItem[], open: boolean): AnyItem[] {
  return items.filter(({ type }, index) => {
    if (type !== 'reasoning') return true;
    const next = items.slice(index + 1).find((item) => item.type !== 'reasoning');
    return next ? next.role !== 'user' && !isResult(next) : open;
  });
}
