import type { AgentOptions } from './agent.ts';
import { sayNobodyApproves } from './durability-off.ts';
import { AgentInputError, AgentRejectedError } from './errors/index.ts';
import { askStep, insideRun } from './loop/ask.ts';
import type { Decision } from './protocol/advance.ts';
import { approvalFor } from './tools/approval-rule.ts';
import { toJsonSchema } from './tools/schema.ts';

/**
 * What an agent is started with, once a person approved that, where one must: its input, or what the person made of it.
 * @throws AgentRejectedError
 */
export async function approvedStart(
  name: string,
  { requiresApproval, input: schema }: AgentOptions,
  input: unknown,
  fit: (input: unknown) => Promise<unknown>,
): Promise<unknown> {
  if (!requiresApproval) return input;
  if (!insideRun()) {
    sayNobodyApproves(`Agent ${name}`);
    return input;
  }
  const of = {
    prompt: `Start ${name}?`,
    schema: () => (schema ? toJsonSchema(schema, `agent ${name}`) : {}),
  };
  for (let unfit = ''; ;) {
    const approval = await approvalFor(requiresApproval, input, of);
    if (!approval) return input;
    const prompt = approval.prompt + unfit;
    const { approved, reason, ...decision } = await askStep<Decision>({
      kind: 'approval',
      name: 'start',
      request: { agent: name, input, prompt: unfit },
      input,
      approval: { ...approval, prompt },
    });
    if (!approved) throw new AgentRejectedError(reason ?? `The start of ${name} was not approved.`);
    if (!Object.hasOwn(decision, 'arguments')) return input;
    try {
      return await fit(decision.arguments);
    } catch (error) {
      // The schema says more than its JSON Schema.
      if (!(error instanceof AgentInputError)) throw error;
      unfit = `\n\nThe input given before did not fit: ${error.message}`;
    }
  }
}
