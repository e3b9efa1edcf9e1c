/** The SDK for the programs of the test: as it is, but the bodies of tools are counted. */
import { tool as sdkTool } from '@openai/agents';
import { note } from '../kit/effects.ts';

export * from '@openai/agents';

type Execute = (input: unknown, ...rest: unknown[]) => unknown;

/** The SDK's own `tool`. */
export function tool(options: { name: string; execute: Execute; [option: string]: unknown }): unknown {
  const execute: Execute = (input, ...rest) => {
    note(`ran ${options.name} ${JSON.stringify(input)}`);
    return options.execute(input, ...rest);
  };
  return sdkTool({ ...options, execute } as never);
}
