/** What a model is asked in a turn, in a few words, for whoever reads the run's report. */

/** As much of a text as is looked at, in characters; the loop cuts it further. */
const LOOKED_AT = 500;

/** What a tool answered. */
export function resultOf(tool: string | undefined, content: unknown): string {
  return `result of ${tool ?? 'a call'}: ${shortText(content) ?? ''}`;
}

/** A text, or the first of the parts that have one. Never all of it as JSON: it may be megabytes of an image. */
export function shortText(content: unknown): string | undefined {
  if (typeof content === 'string') return content.slice(0, LOOKED_AT);
  const parts = (Array.isArray(content) ? content : [content]) as ({ text?: unknown } | undefined)[];
  const part = parts.find((each) => typeof each?.text === 'string') as { text: string } | undefined;
  return part?.text.slice(0, LOOKED_AT);
}
