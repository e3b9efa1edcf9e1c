/** The package as it is shipped, compiled from the sources of now, in a folder of its own. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

export interface BuiltPackage {
  /** Its folder; files in it import the package by its name. */
  folder: string;
  /** Runs a module in a plain Node process there; gives what it printed as JSON. */
  evaluate(module: string, ...nodeOptions: string[]): Promise<unknown>;
  /** Compiles files of the package's tests into it, keeping their paths. Resolves with the folder of the result. */
  compile(...files: string[]): Promise<string>;
  remove(): void;
}

/** Compiles the package. @param name of the folder, one a test file */
export async function buildPackage(name: string): Promise<BuiltPackage> {
  const folder = join(root, '.cache', `package-${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  // As in a project that depends on it, so that a bundler finds it too.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(folder, join(folder, 'node_modules', 'temporal-agents'));
  await tsc('-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist'));
  return {
    folder,
    evaluate: async (module, ...nodeOptions) => {
      const options = [...nodeOptions, '--input-type=module', '-e', module];
      const { stdout } = await run(process.execPath, options, { cwd: folder });
      return JSON.parse(stdout) as unknown;
    },
    compile: async (...files) => {
      const outDir = join(folder, 'compiled');
      const config = join(folder, 'tsconfig.json');
      const compilerOptions = { noEmit: false, rootDir: root, outDir };
      const paths = files.map((file) => join(root, file));
      writeFileSync(
        config,
        JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: [], files: paths }),
      );
      await tsc('-p', config);
      return outDir;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function tsc(...options: string[]): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, ...options]).catch((error: { stdout?: string }) => {
    throw new Error(`The compiler refuses it:\n${error.stdout}`, { cause: error });
  });
}
