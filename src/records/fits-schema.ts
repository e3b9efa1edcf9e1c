/** Whether what came from outside fits a JSON Schema; without code that is made at run time, which no workflow may. */
import { Validator } from '@cfworker/json-schema';

/** Why a value does not fit; `undefined`: it does. */
export function whyNotFits(schema: Record<string, unknown>, value: unknown): string | undefined {
  const { valid, errors } = validate(schema, value);
  if (valid) return undefined;
  // The innermost errors say what is wrong; those around them only that something is.
  return errors
    .filter(({ keyword }) => !['properties', 'items', 'anyOf', 'allOf', 'oneOf'].includes(keyword))
    .slice(0, 3)
    .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
    .join('; ');
}

/** A schema that cannot be used fits nothing. */
function validate(schema: Record<string, unknown>, value: unknown): ReturnType<Validator['validate']> {
  try {
    return new Validator(schema, '7', false).validate(value);
  } catch (error) {
    const why = `the schema cannot be used (${error instanceof Error ? error.message : String(error)})`;
    return {
      valid: false,
      errors: [{ keyword: '', keywordLocation: '', instanceLocation: '#', error: why }],
    };
  }
}
