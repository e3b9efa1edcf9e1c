/**
 * What of a value would not come back from JSON as it was, with the path to it: "facts[2].at" is a Date. `undefined`:
 * nothing. Stricter than what may be recorded of a step, because what is written now is read by other code later.
 */
export function whatJsonChanges(value: unknown): string | undefined {
  return changed(value, '', []);
}

function changed(value: unknown, path: string, within: object[]): string | undefined {
  const found = what(value, within);
  if (found !== undefined) return `${path === '' ? 'it' : `"${path}"`} is ${found}`;
  if (typeof value !== 'object' || value === null) return undefined;
  const inside = [...within, value];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [field, child] of entries) {
    if (typeof field === 'string' && !field.isWellFormed())
      return `a field of ${path || 'it'} has half a character`;
    const step = typeof field === 'number' ? `[${field}]` : path === '' ? field : `.${field}`;
    const inner = changed(child, `${path}${step}`, inside);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function what(value: unknown, within: object[]): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : 'a text with half a character';
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'boolean':
      return undefined;
    case 'object':
      return value === null ? undefined : whatObject(value, within);
    default:
      return `${typeof value === 'undefined' ? '' : 'a '}${typeof value}`;
  }
}

function whatObject(value: object, within: object[]): string | undefined {
  if (within.includes(value)) return 'a cycle';
  if (Object.getOwnPropertySymbols(value).length > 0) return 'an object with a symbol as a field';
  if (Array.isArray(value))
    return Object.keys(value).length > value.length ? 'a list with fields' : undefined;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // Plain in any realm: what it inherits from inherits from nothing.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const { name } = value.constructor ?? {};
  return name ? `a ${name}` : 'of a class';
}
