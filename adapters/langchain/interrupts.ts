/** Where a graph interrupts itself, a run asks people and goes on: approvals of tool calls, and questions. */
import { askStep } from '../../src/loop/ask.ts';
import type { Decision } from '../../src/protocol/advance.ts';
import { plainJson } from '../plain-json.ts';

/** What a graph waits for. */
export interface Interrupt {
  id?: string;
  value?: unknown;
  response_schema?: Record<string, unknown>;
}

/** What `humanInTheLoopMiddleware` asks, and tools that ask in its way. */
interface Review {
  actionRequests: { name: string; args: Record<string, unknown>; description?: string }[];
  reviewConfigs: {
    actionName: string;
    allowedDecisions: string[];
    argsSchema?: Record<string, unknown>;
  }[];
}

type Answer =
  | { type: 'approve' }
  | { type: 'edit'; editedAction: object }
  | { type: 'reject'; message?: string };

/** Asks people all that a graph waits for. @returns their answers by the interrupts' ids, to resume it with */
export async function askPeople(interrupts: readonly Interrupt[]): Promise<Record<string, unknown>> {
  const answers = await Promise.all(
    interrupts.map(async (interrupt) => [
      interrupt.id!,
      isReview(interrupt.value) ? await review(interrupt.value) : await question(interrupt),
    ]),
  );
  return Object.fromEntries(answers) as Record<string, unknown>;
}

function isReview(value: unknown): value is Review {
  const { actionRequests, reviewConfigs } = (value ?? {}) as Partial<Review>;
  return Array.isArray(actionRequests) && Array.isArray(reviewConfigs);
}

async function review({ actionRequests, reviewConfigs }: Review): Promise<{ decisions: Answer[] }> {
  const decisions = actionRequests.map(async ({ name, args, description }, i): Promise<Answer> => {
    const rules = reviewConfigs.find((each) => each.actionName === name) ?? reviewConfigs[i];
    const input = plainJson(args);
    const decided = await askStep<Decision>({
      kind: 'approval',
      name,
      request: { tool: name, arguments: input },
      input,
      approval: {
        prompt: description ?? `Run ${name}?`,
        ...(rules?.allowedDecisions.includes('edit') && { edit: rules.argsSchema ?? { type: 'object' } }),
      },
    });
    if (!decided.approved)
      return { type: 'reject', ...(decided.reason !== undefined && { message: decided.reason }) };
    return decided.arguments === undefined
      ? { type: 'approve' }
      : { type: 'edit', editedAction: { name, args: decided.arguments } };
  });
  return { decisions: await Promise.all(decisions) };
}

/** Any JSON answers it, unless it says what does. */
async function question({ value, response_schema: schema }: Interrupt): Promise<unknown> {
  const asked = plainJson(value ?? null);
  const decided = await askStep<Decision>({
    kind: 'approval',
    name: 'interrupt',
    request: { asked, schema },
    input: asked,
    approval: { prompt: promptOf(asked), answer: schema ?? {} },
  });
  return decided.value;
}

function promptOf(asked: unknown): string {
  if (typeof asked === 'string' && asked !== '') return asked;
  const { question: own, prompt, message } = (asked ?? {}) as Record<string, unknown>;
  const text = [own, prompt, message].find((each) => typeof each === 'string' && each !== '');
  return (text as string | undefined) ?? JSON.stringify(asked);
}
