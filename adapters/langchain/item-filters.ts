/** Which items a search of LangGraph's store means, and which namespaces; as its InMemoryStore has it. */

type Comparison = (is: unknown, wanted: unknown) => boolean;

const COMPARISONS: Record<string, Comparison> = {
  $eq: (is, wanted) => is === wanted,
  $ne: (is, wanted) => is !== wanted,
  $gt: (is, wanted) => Number(is) > Number(wanted),
  $gte: (is, wanted) => Number(is) >= Number(wanted),
  $lt: (is, wanted) => Number(is) < Number(wanted),
  $lte: (is, wanted) => Number(is) <= Number(wanted),
  $in: (is, wanted) => Array.isArray(wanted) && wanted.includes(is),
  $nin: (is, wanted) => !Array.isArray(wanted) || !wanted.includes(is),
};

/** Whether a value has these fields: equal ones, or those that operators such as `{ $gt: 3 }` say. */
export function hasFields(value: unknown, filter: Record<string, unknown>): boolean {
  const fields = value as Record<string, unknown>;
  return Object.entries(filter).every(([name, wanted]) => compares(fields[name], wanted));
}

function compares(is: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return is === wanted;
  const operators = Object.entries(wanted);
  return operators.every(([name, operand]) => COMPARISONS[name]?.(is, operand) ?? false);
}

/** Whether a namespace begins or ends with labels, of which `*` is any. */
export function matches(
  namespace: readonly string[],
  { matchType, path }: { matchType: 'prefix' | 'suffix'; path: readonly string[] },
): boolean {
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return (
    path.length <= namespace.length &&
    path.every((label, i) => label === '*' || namespace[start + i] === label)
  );
}
