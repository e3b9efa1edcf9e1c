/** What adapters make comparable requests of: objects without some fields, and lists in an order that says nothing. */

export function without(object: object, ...fields: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

export function sorted<T>(items: readonly T[], by: (item: T) => string): T[] {
  return items.toSorted((a, b) => (by(a) < by(b) ? -1 : Number(by(a) > by(b))));
}
