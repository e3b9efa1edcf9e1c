import { randomUUID } from 'node:crypto';
import { DeclarationError } from '../errors/index.ts';
import { currentPosition } from '../loop/current-loop.ts';
import { sayDurabilityIsOff, sayNobodyApproves } from '../durability-off.ts';
import { callTool } from './call-tool.ts';
import { declared } from './declared.ts';
import { toJsonSchema } from './schema.ts';
import {
  assertToolOptions,
  type Tool,
  type ToolChanges,
  type ToolDecorator,
  type ToolOptions,
  toolArguments,
} from './tool-options.ts';

/**
 * Declares a tool, or, without `execute`, a tool that is served elsewhere; the latter is also a method decorator.
 * @throws DeclarationError for a bad name, an option that does not exist, or parameters that have no JSON Schema
 */
export function tool<Input, Args, Result>(
  options: ToolOptions<Input, Args, Result> & {
    execute: NonNullable<ToolOptions<Input, Args, Result>['execute']>;
  },
): Tool<Input, Args, Result>;
export function tool<Input, Args, Result = unknown>(
  options: ToolOptions<Input, Args, Result>,
): Tool<Input, Args, Result> & ToolDecorator<Args>;
export function tool<Input, Args, Result>(
  options: ToolOptions<Input, Args, Result>,
): Tool<Input, Args, Result> {
  const made = makeTool(options);
  if (options.execute && !currentPosition()) declared.add(made);
  return made;
}

function makeTool<Input, Args, Result>(
  options: ToolOptions<Input, Args, Result>,
  origin?: Tool<Input, Args, Result>,
): Tool<Input, Args, Result> {
  assertToolOptions(options);
  const jsonSchema = toJsonSchema(options.parameters, `tool ${options.name}`);
  const call = async (args: Input): Promise<Result> =>
    currentPosition() ? await callTool(made, args) : await runPlainly(made, args);
  const callable = (args: Input, context?: unknown): unknown =>
    isMethodContext(context) && !options.execute ? decorate(options, args, context) : call(args);
  Object.defineProperty(callable, 'name', { value: options.name });
  const made = Object.assign(callable, {
    options: Object.freeze({ ...options }),
    jsonSchema,
    with: (changed: ToolChanges) => makeTool({ ...options, ...changed }, origin ?? made),
  }) as unknown as Tool<Input, Args, Result>;
  Object.assign(made, { origin: origin ?? made });
  return made;
}

function isMethodContext(value: unknown): value is ClassMethodDecoratorContext {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'method';
}

/** On each instance, puts a tool bound to it in the place of the method. */
function decorate(
  options: ToolOptions<any, any, any>,
  method: unknown,
  context: ClassMethodDecoratorContext,
): unknown {
  context.addInitializer(function (this: unknown) {
    const self = this as Record<PropertyKey, unknown>;
    const execute = (method as (...args: unknown[]) => unknown).bind(self);
    self[context.name] = makeTool({ ...options, execute });
  });
  return method;
}

async function runPlainly<Result>(made: Tool<any, any, Result>, input: unknown): Promise<Result> {
  const { name, execute } = made.options;
  if (!execute) {
    throw new DeclarationError(
      `Cannot run tool ${name} outside a run: it has no body here. Give it an execute function.`,
    );
  }
  sayDurabilityIsOff();
  if (made.options.requiresApproval) sayNobodyApproves(`Tool ${name}`);
  const args = await toolArguments(made, input);
  return await execute(args, { idempotencyKey: randomUUID(), signal: new AbortController().signal });
}
