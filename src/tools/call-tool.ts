import { DeclarationError } from '../errors/index.ts';
import { askStep } from '../loop/ask.ts';
import { currentPosition } from '../loop/current-loop.ts';
import type { EditedArguments } from '../protocol/step.ts';
import { approvalFor } from './approval-rule.ts';
import { runToolBody } from './run-tool-body.ts';
import { stepOptions, type Tool, toolArguments } from './tool-options.ts';

const RETRY = { maximumAttempts: 3 };

/**
 * A call of a tool inside a run: one durable step, approval included.
 * @param onEdited hears, before the result, that a person changed the arguments
 */
export async function callTool<Result>(
  tool: Tool<any, any, Result>,
  input: unknown,
  onEdited?: (edited: EditedArguments) => void,
): Promise<Result> {
  const { name, execute, readOnly, version, requiresApproval, suspends, taskQueue } = tool.options;
  const args: unknown = await toolArguments(tool, input);
  const { loop } = currentPosition()!;
  const { toolCache } = loop.source.storage;
  const served = !execute || taskQueue !== undefined || loop.serves(tool.origin);
  if (suspends && !served) throw new DeclarationError(notServed(name));
  const options = stepOptions(tool);
  const approval = await approvalFor(requiresApproval, args, {
    prompt: `Run ${name}?`,
    schema: () => tool.jsonSchema,
  });
  return await askStep<Result>({
    kind: 'tool',
    name,
    request: { arguments: args, version },
    input,
    ...(readOnly && { readOnly }),
    ...(approval && { approval }),
    ...(onEdited && { onEdited }),
    ...(suspends && { suspends }),
    ...(served
      ? { options, ...(execute && !suspends && { heartbeats: true }) }
      : {
          options: { retry: RETRY, ...options },
          closure: async (signal, _again, _key, edited) =>
            await runToolBody(tool, edited ? edited.arguments : input, signal, toolCache),
        }),
  });
}

function notServed(name: string): string {
  return `Cannot call tool ${name}, which suspends: no worker here has it. Declare it at the top of a module, or give it to AgentsPlugin({ tools }).`;
}
