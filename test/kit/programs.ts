/** Random agents: sequential, parallel and racing steps, whose requests hold all that came before in their branch. */
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { askStep } from '../../src/loop/ask.ts';

export type Program =
  | { do: 'ask'; name: string; readOnly?: boolean; after?: number }
  | { do: 'seq' | 'par' | 'race'; parts: Program[] };

/**
 * @param own whether branches do I/O of their own, of some milliseconds, before they ask. No two requests of such a
 * program are equal: which of them came first would be up to timers.
 */
export function programs(own = false): fc.Arbitrary<Program> {
  const { tree } = fc.letrec<{ tree: Program; ask: Program }>((tie) => ({
    ask: fc.record({
      do: fc.constant('ask' as const),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      readOnly: fc.boolean(),
      ...(own && { after: fc.constantFrom(0, 0, 2, 6) }),
    }),
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      tie('ask'),
      fc.record({
        do: fc.constantFrom('seq', 'par', 'race'),
        parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
      }),
    ),
  }));
  return own ? tree.map((program) => numbered(program)) : tree;
}

/** The program with a name of its own for each step. */
function numbered(program: Program, path = ''): Program {
  if (program.do === 'ask') return { ...program, name: program.name + path };
  return { ...program, parts: program.parts.map((part, i) => numbered(part, `${path}.${i}`)) };
}

/**
 * Runs a program as an agent does. A tool's request is its name, as its arguments do not hold the context; any other
 * step's request holds the answers that its branch has seen, in the order of the program.
 */
export async function run(program: Program, context: readonly unknown[] = []): Promise<unknown[]> {
  switch (program.do) {
    case 'ask': {
      if (program.after) await delay(program.after);
      const { name, readOnly } = program;
      const request = readOnly ? { name } : { name, context };
      const kind = readOnly ? 'tool' : 'turn';
      return [...context, await askStep({ kind, name, request, ...(readOnly && { readOnly: true }) })];
    }
    case 'seq': {
      let seen = [...context];
      for (const part of program.parts) seen = await run(part, seen);
      return seen;
    }
    case 'par':
      return (await Promise.all(program.parts.map((part, i) => run(part, [...context, i])))).flat();
    case 'race':
      return await Promise.race(program.parts.map((part, i) => run(part, [...context, i])));
  }
}
