/** How adapters find the copies of their frameworks: beside the one that is imported, a process may require others. */
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { UnsupportedError } from '../src/errors/index.ts';

interface Framework {
  /** As people call it. */
  title: string;
  /** Its package, or the scope of its packages. */
  packages: string;
  supported: readonly { name: string; range: string }[];
}

const require = createRequire(import.meta.url);

/**
 * Instruments the copy that modules import, and each that was or will be loaded by `require`.
 * @param instrument takes in what a module exports; gives whether all of it that must be known is as it should be
 * @throws UnsupportedError if that is not so of the copy that is imported; of others, Node.js warns
 */
export function instrumentEachCopy(
  { title, packages, supported }: Framework,
  imported: object,
  instrument: (exports: object) => boolean,
): void {
  const ranges = supported.map(({ name, range }) => `${name} ${range}`).join(', ');
  const unsupported = `Cannot instrument this version of ${title}: use ${ranges}.`;
  const adopt = (exports: unknown) => {
    if (typeof exports === 'object' && exports !== null && !instrument(exports))
      process.emitWarning(unsupported);
  };
  if (!instrument(imported)) throw new UnsupportedError(unsupported);
  for (const module of Object.values(require.cache)) {
    if (module?.filename.includes(packages)) adopt(module.exports);
  }
  subscribe('tracing:module.require:end', (message) => {
    const { id, result } = message as { id: string; result: unknown };
    if (id === packages || id.startsWith(`${packages}/`)) adopt(result);
  });
}
