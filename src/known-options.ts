import { DeclarationError } from './errors/index.ts';

/**
 * Refuses an option that does not exist: a misspelt one would silently do nothing.
 * @param cannot how the message begins: "Cannot declare agent support"
 */
export function assertKnownOptions(options: object, known: ReadonlySet<string>, cannot: string): void {
  const unknown = Object.keys(options).find((option) => !known.has(option));
  if (unknown !== undefined)
    throw new DeclarationError(`${cannot}: this version has no option "${unknown}".`);
}
