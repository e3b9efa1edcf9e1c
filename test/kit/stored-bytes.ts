import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file under a folder, by its path from there, with its bytes. */
export function filesUnder(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path)];
    }),
  );
}

/** Which of these texts can be read under a folder, in the bytes of a file or its name. */
export function readableUnder(folder: string, texts: readonly string[]): string[] {
  const files = [...filesUnder(folder)];
  return texts.filter((text) => files.some(([path, bytes]) => path.includes(text) || bytes.includes(text)));
}
