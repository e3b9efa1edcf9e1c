import { DeclarationError } from '../errors/index.ts';
import type { Tool } from './tool-options.ts';

/** Tools with a body that modules of this process declared, outside any run: what a worker serves if not told otherwise. */
export const declared = new Set<Tool<any, any, any>>();

/** Tools by name, what `with` made of one counted as that one. @throws DeclarationError if two of them share a name */
export function byName(tools: Iterable<Tool<any, any, any>>): Map<string, Tool<any, any, any>> {
  const named = new Map<string, Tool<any, any, any>>();
  for (const { origin } of tools) {
    const { name } = origin.options;
    if ((named.get(name) ?? origin) !== origin) {
      throw new DeclarationError(
        `Cannot serve two tools named "${name}": a tool's activity has its name. Rename one, or pass AgentsPlugin the tools to serve: new AgentsPlugin({ tools: [...] }).`,
      );
    }
    named.set(name, origin);
  }
  return named;
}
