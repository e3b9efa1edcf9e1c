/** Where a graph interrupts itself, a run asks people and goes on: approvals of tool calls, and questions. */
import { UnsupportedError } from '../../src/errors/index.ts';
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

/** Fields of what a graph waits for that say what is asked. */
const ASKS = new Set(['question', 'prompt', 'message']);
/** The whole is in `waiting`. */
const MAX_SHOWN_CHARS = 1_000;

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
  for (const { actionName, allowedDecisions } of reviewConfigs) assertDecisions(actionName, allowedDecisions);
  const decisions = actionRequests.map(async ({ name, args, description }, i): Promise<Answer> => {
    const rules = reviewConfigs.find((each) => each.actionName === name) ?? reviewConfigs[i];
    const input = plainJson(args);
    const decided = await askStep<Decision>({
      kind: 'approval',
      name,
      request: { tool: name, arguments: input },
      input,
      approval: {
        prompt: clip(description ?? `Run ${name}?`),
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

/** Whoever is asked in Temporal can say yes and no. */
function assertDecisions(action: string, allowed: readonly string[]): void {
  if (allowed.includes('approve') && allowed.includes('reject')) return;
  throw new UnsupportedError(
    `Cannot ask people about ${action} with the decisions ${allowed.join(', ')}: allow "approve" and "reject", which everybody who is asked can say.`,
  );
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

/** A text as it is; of an object what it asks, and then the rest, for who sees nothing else of it. */
function promptOf(asked: unknown): string {
  if (typeof asked === 'string' && asked !== '') return clip(asked);
  const fields = Object.entries((asked ?? {}) as Record<string, unknown>);
  const found = fields.find(isAsked);
  if (!found) return clip(JSON.stringify(asked));
  const rest = fields.filter((field) => field !== found);
  const text = clip(found[1]);
  return rest.length > 0 ? `${text} ${clip(JSON.stringify(Object.fromEntries(rest)))}` : text;
}

function isAsked(field: [string, unknown]): field is [string, string] {
  const [name, value] = field;
  return ASKS.has(name) && typeof value === 'string' && value !== '';
}

function clip(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
