import { insideRun } from '../loop/ask.ts';
import type { EditedArguments } from '../protocol/step.ts';
import { callTool } from './call-tool.ts';
import type { Tool } from './tool-options.ts';

/**
 * A call that a model asked for. Where a person changed its arguments, the result is told with that, since the model would
 * take it for the result of what it asked.
 * @param withNote puts that before a result; by default `noteAndResult`
 */
export async function callForModel(
  tool: Tool<any, any, any>,
  input: unknown,
  withNote: (note: string, result: unknown) => unknown = noteAndResult,
): Promise<unknown> {
  if (!insideRun()) return await tool(input);
  let edited: EditedArguments | undefined;
  const result: unknown = await callTool(tool, input, (found) => (edited = found));
  return edited ? withNote(noteOf(edited), result) : result;
}

function noteOf({ arguments: changed }: EditedArguments): string {
  return `A person changed the arguments of this call before it was made, to ${JSON.stringify(changed)}.`;
}

/** A text before a text, `{ note, result }` for the rest. */
export function noteAndResult(note: string, result: unknown): unknown {
  return typeof result === 'string' ? `${note}\n\n${result}` : { note, result };
}
