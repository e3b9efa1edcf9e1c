/** Whether what came from outside fits a JSON Schema; without code that is made at run time, which no workflow may. */
import { Validator } from '@cfworker/json-schema';

/** Why a value does not fit; `undefined`: it does. */
export function whyNotFits(schema: Record<string, unknown>, value: unknown): string | undefined {
  const { valid, errors } = new Validator(schema, '7', false).validate(value);
  if (valid) return undefined;
  // The innermost errors say what is wrong; those around them only that something is.
  return errors
    .filter(({ keyword }) => !['properties', 'items', 'anyOf', 'allOf', 'oneOf'].includes(keyword))
    .slice(0, 3)
    .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
    .join('; ');
}
