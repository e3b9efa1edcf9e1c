/** Schemas of arguments, inputs and outputs: any Standard Schema (zod, valibot, arktype, …). */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { DeclarationError } from '../errors/index.ts';

/** A schema that validates. */
export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>;

/** A JSON Schema as plain data. */
export type JsonSchema = Record<string, unknown>;

/** Validates a value; throws what `refuse` makes of the issues. */
export async function validate<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
  refuse: (issues: string) => Error,
): Promise<Output> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return result.value;
  throw refuse(result.issues.map(issueText).join('; '));
}

/** Whether this is a Standard Schema; arktype's are functions. */
export function isSchema(candidate: unknown): candidate is Schema {
  return (
    ((typeof candidate === 'object' && candidate !== null) || typeof candidate === 'function') &&
    '~standard' in candidate
  );
}

/**
 * The JSON Schema of what a model is to send.
 * @throws DeclarationError naming whose schema it is, if its library cannot convert it
 */
export function toJsonSchema(schema: Schema | JsonSchema, whose: string): JsonSchema {
  if (!isSchema(schema)) return schema;
  const converter = (schema['~standard'] as Partial<StandardJSONSchemaV1.Props>).jsonSchema;
  if (!converter) {
    throw new DeclarationError(
      `Cannot convert the parameters of ${whose} to JSON Schema: ${schema['~standard'].vendor} at this version cannot do it. Use zod 4.2 or newer, or pass a JSON Schema object.`,
    );
  }
  try {
    // A copy: zod hides a `~standard` of its own in what it makes.
    return { ...converter.input({ target: 'draft-07' }) };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.?$/, '.');
    throw new DeclarationError(
      `Cannot convert the parameters of ${whose} to JSON Schema: ${why} Use types that JSON has, or pass a JSON Schema object.`,
      { cause: error },
    );
  }
}

function issueText({ message, path = [] }: StandardSchemaV1.Issue): string {
  const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return at === '' ? message : `${at}: ${message}`;
}
