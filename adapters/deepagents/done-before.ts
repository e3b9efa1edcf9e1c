/** A change of files that may have been made before: to make it again would fail, or change too much. */
import type { Backend } from './backends.ts';

interface Raw {
  error?: string;
  data?: { content?: unknown };
  content?: unknown;
}

/** Makes an edit or a deletion unless it was made. @returns what it answers when it is made once */
export async function changeAgain(
  backend: Backend,
  method: string,
  args: readonly unknown[],
  call: () => Promise<unknown>,
): Promise<unknown> {
  const [path, before, after] = args as [path: string, before: string, after: string];
  if (method === 'edit') {
    const occurrences = timesEdited(await textOf(backend, path), before, after);
    return occurrences === undefined ? await call() : { path, filesUpdate: null, occurrences };
  }
  const result = await call();
  const { error } = (result ?? {}) as { error?: string };
  return method === 'delete' && error?.includes('not found') ? { path, filesUpdate: null } : result;
}

/** @returns `undefined`: it was not edited so, as what would be replaced is still there, or what replaces it is not */
function timesEdited(text: string | undefined, before: string, after: string): number | undefined {
  if (text === undefined || before === '') return undefined;
  const outside = after === '' ? [text] : text.split(after);
  if (outside.some((part) => part.includes(before))) return undefined;
  return after === '' ? 1 : outside.length - 1 || undefined;
}

/** As the backend itself has it. */
async function textOf(backend: Backend, path: string): Promise<string | undefined> {
  try {
    const raw = (await backend.readRaw?.(path)) as Raw | undefined;
    const content = raw?.data?.content ?? raw?.content;
    // Files of the first format are lists of lines.
    const text: unknown = Array.isArray(content) ? content.join('\n') : content;
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
