/** Where a graph interrupts itself, a run asks people and goes on: approvals of tool calls, and questions. */
import { UnsupportedError } from '../../src/errors/index.ts';
import { askStep } from '../../src/loop/ask.ts';
import type { Decision } from '../../src/protocol/advance.ts';
import { clip } from '../../src/records/refusals.ts';
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

const DECISIONS: readonly string[] = ['approve', 'edit', 'reject'];
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
  const asked = actionRequests.map((action, i) => ({
    action,
    rules: reviewConfigs.find((each) => each.actionName === action.name) ?? reviewConfigs[i],
  }));
  for (const { action, rules } of asked) assertDecisions(action.name, rules?.allowedDecisions);
  return {
    decisions: await Promise.all(asked.map(async ({ action, rules }) => await decide(action, rules))),
  };
}

/** Asks again if the middleware would not take the decision. */
async function decide(
  { name, args, description }: Review['actionRequests'][number],
  rules: Review['reviewConfigs'][number] | undefined,
): Promise<Answer> {
  const input = plainJson(args);
  const { allowedDecisions: allowed = DECISIONS, argsSchema } = rules ?? {};
  const prompt = shown(description ?? `Run ${name}?`);
  for (let refused = ''; ;) {
    const decided = await askStep<Decision>({
      kind: 'approval',
      name,
      request: { tool: name, arguments: input },
      input,
      approval: {
        prompt: `${prompt}${refused}`,
        ...(allowed.includes('edit') && { edit: argsSchema ?? { type: 'object' } }),
      },
    });
    const answer = answerOf(name, decided);
    if (allowed.includes(answer.type)) return answer;
    refused = ` (${answer.type} is not possible here, only ${allowed.join(', ')})`;
  }
}

function answerOf(name: string, { approved, reason, arguments: args }: Decision): Answer {
  if (!approved) return { type: 'reject', ...(reason !== undefined && { message: reason }) };
  return args === undefined ? { type: 'approve' } : { type: 'edit', editedAction: { name, args } };
}

/** What people can say in Temporal. */
function assertDecisions(action: string, allowed: readonly string[] = DECISIONS): void {
  if (DECISIONS.some((decision) => allowed.includes(decision))) return;
  throw new UnsupportedError(
    `Cannot ask people about ${action} with the decisions ${allowed.join(', ')}: allow ${DECISIONS.join(', ')}, or some of these.`,
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
  if (typeof asked === 'string' && asked !== '') return shown(asked);
  const fields = Object.entries((asked ?? {}) as Record<string, unknown>);
  const found = fields.find(isAsked);
  if (!found) return shown(JSON.stringify(asked));
  const rest = fields.filter((field) => field !== found);
  const text = shown(found[1]);
  return rest.length > 0 ? `${text} ${shown(JSON.stringify(Object.fromEntries(rest)))}` : text;
}

function isAsked(field: [string, unknown]): field is [string, string] {
  const [name, value] = field;
  return ASKS.has(name) && typeof value === 'string' && value !== '';
}

function shown(text: string): string {
  return clip(text, MAX_SHOWN_CHARS);
}
