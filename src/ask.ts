/** Questions to a person from an agent's own code. */
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { AnswerTimeoutError, DeclarationError, UnsupportedError } from './errors/index.ts';
import { assertKnownOptions } from './known-options.ts';
import { askStep, insideRun } from './loop/ask.ts';
import type { Decision } from './protocol/advance.ts';
import { NAME_PATTERN } from './protocol/names.ts';
import { assertLimits } from './tools/retries-and-timeouts.ts';
import { isSchema, type JsonSchema, type Schema, toJsonSchema, validate } from './tools/schema.ts';

/** What a person is asked, and what fits as an answer. */
export interface AskOptions<Answer = string> {
  /** What the person reads. */
  prompt: string;
  /** What fits: `z.boolean()`, `z.enum([…])`, any schema that can be JSON Schema, or that. @default a text */
  schema?: Schema<any, Answer> | JsonSchema;
  /** Its id is this and a number, `ship-1`, so that whoever answers need not look it up. @default 'ask' */
  name?: string;
  /** How long an answer is waited for, from when it was asked. @default for ever */
  timeout?: Duration;
  /** Whom it concerns: shown with the question; restricts nobody. */
  audience?: string;
}

const OPTIONS = new Set<keyof AskOptions>(['prompt', 'schema', 'name', 'timeout', 'audience']);
const TEXT: JsonSchema = { type: 'string' };

/**
 * Asks a person, and waits for the answer, which comes by the signal `answer`: from the Temporal UI, the CLI or code. One
 * that does not fit the schema's JSON Schema is refused, and the run goes on waiting; one that fits that, but not what the
 * schema says beyond, is asked for again with the reason.
 * @throws AnswerTimeoutError if nobody answered in time; DeclarationError for options that cannot be meant;
 *   UnsupportedError outside a run
 */
export async function ask<Answer = string>(options: AskOptions<Answer>): Promise<Answer> {
  const { prompt, schema = TEXT, name = 'ask', timeout, audience } = options;
  assertOptions(options);
  if (!insideRun())
    throw new UnsupportedError(
      `Cannot ask "${prompt}" outside a run: nobody answers. Start the agent on Temporal.`,
    );
  const answer = toJsonSchema(schema, `question ${name}`);
  for (let said = prompt; ;) {
    const { approved, value, reason } = await askStep<Decision>({
      kind: 'approval',
      name,
      request: { prompt: said, answer },
      approval: {
        prompt: said,
        answer,
        ...(timeout !== undefined && { timeoutMs: msToNumber(timeout) }),
        ...(audience !== undefined && { audience }),
      },
    });
    if (!approved) throw new AnswerTimeoutError(reason ?? `Nobody answered ${name} in time.`);
    if (!isSchema(schema)) return value as Answer;
    const wrong: { issues?: string } = {};
    const fit = await validate(schema, value, (issues) => {
      wrong.issues = issues;
      return new Error(issues);
    }).catch((error: unknown) => {
      if (wrong.issues === undefined) throw error;
    });
    if (wrong.issues === undefined) return fit as Answer;
    said = `${prompt}\n\nThe answer before did not fit: ${wrong.issues}`;
  }
}

function assertOptions({ prompt, name, ...options }: AskOptions<any>): void {
  assertKnownOptions({ prompt, ...options }, OPTIONS, 'Cannot ask');
  if (typeof prompt !== 'string' || prompt === '')
    throw new DeclarationError('Cannot ask: "prompt" must say what.');
  if (name !== undefined && !NAME_PATTERN.test(name))
    throw new DeclarationError(
      `Cannot ask "${prompt}": "name" must be letters, digits, "_" and "-", at most 64, not starting with a digit.`,
    );
  assertLimits(options, ['timeout'], 'Cannot ask');
}
