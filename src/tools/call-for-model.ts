import { insideRun } from '../loop/ask.ts';
import type { EditedArguments } from '../protocol/step.ts';
import { callTool } from './call-tool.ts';
import type { Tool } from './tool-options.ts';

/**
 * A call that a model asked for. Where a person changed its arguments, what came of it is told with that, since the model
 * would take it for what came of its own.
 * @param withNote puts a text before a result, as the framework shows results to models
 */
export async function callForModel(
  tool: Tool<any, any, any>,
  input: unknown,
  withNote: (note: string, result: unknown) => unknown,
): Promise<unknown> {
  if (!insideRun()) return await tool(input);
  const heard: { edited?: EditedArguments } = {};
  try {
    const result: unknown = await callTool(tool, input, (edited) => (heard.edited = edited));
    return heard.edited ? withNote(noteOf(heard.edited), result) : result;
  } catch (error) {
    if (heard.edited && error instanceof Error) error.message = `${noteOf(heard.edited)}\n\n${error.message}`;
    throw error;
  }
}

function noteOf({ arguments: changed }: EditedArguments): string {
  return `A person changed the arguments of this call before it was made, to ${JSON.stringify(changed)}.`;
}

/** A text before a text, `{ note, result }` for the rest. */
export function noteAndResult(note: string, result: unknown): unknown {
  return typeof result === 'string' ? `${note}\n\n${result}` : { note, result };
}
