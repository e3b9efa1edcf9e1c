/** Fields of an answer that say nothing of what the model said. */
const BESIDE = new Set(['usage', 'providerData', 'response_metadata', 'usage_metadata', 'id']);
const DEEPEST = 8;

/** What a model said and called, in whatever form its framework keeps that: its texts, and its calls with their arguments. */
export function saidIn(answer: unknown, depth = 0): string {
  if (typeof answer !== 'object' || answer === null || depth > DEEPEST) return '';
  if (Array.isArray(answer))
    return answer
      .map((part) => saidIn(part, depth + 1))
      .filter(Boolean)
      .join(' ');
  const { text, name, arguments: given, args = given } = answer as Record<string, unknown>;
  if (typeof text === 'string') return text;
  if (typeof name === 'string' && args !== undefined)
    return `${name}(${typeof args === 'string' ? args : JSON.stringify(args)})`;
  const parts = Object.entries(answer).filter(([field]) => !BESIDE.has(field));
  return saidIn(
    parts.map(([, part]) => part),
    depth + 1,
  );
}
