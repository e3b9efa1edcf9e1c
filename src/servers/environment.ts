import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Environment variables by name. Functions here take them as an argument, so that a test can hand in its own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Path of the executable that a shell would run for `command`, or undefined when PATH has none. */
export async function findOnPath(command: string, environment: Environment): Promise<string | undefined> {
  const name = process.platform === 'win32' ? `${command}.exe` : command;
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter);
  for (const folder of folders) {
    const path = join(folder, name);
    if (folder !== '' && (await isExecutable(path))) {
      return path;
    }
  }
  return undefined;
}

/** Whether this process may run the file; false when there is no such file. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Folder in which fetched servers stay from one run to the next: `temporal-agents` in XDG_CACHE_HOME, else where
 * the platform keeps caches (`~/.cache`; `~/Library/Caches` on macOS; `%LOCALAPPDATA%` on Windows).
 */
export function cacheFolder(environment: Environment): string {
  return join(environment['XDG_CACHE_HOME'] || platformCacheFolder(environment), 'temporal-agents');
}

function platformCacheFolder(environment: Environment): string {
  const home = environment['HOME'] || homedir();
  switch (process.platform) {
    case 'darwin':
      return join(home, 'Library', 'Caches');
    case 'win32':
      return environment['LOCALAPPDATA'] || join(home, 'AppData', 'Local');
    default:
      return join(home, '.cache');
  }
}
