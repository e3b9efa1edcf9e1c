import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** An environment in which downloads are forbidden and there are only the executables asked for. */
export async function fakeMachine(
  folder: string,
  name: string,
  has: { onPath?: boolean; cached?: boolean } = {},
) {
  const cache = join(folder, name, 'cache', 'temporal-agents');
  const onPath = join(folder, name, 'bin', 'temporal');
  const cached = join(cache, 'temporal-1.9.1');
  await mkdir(cache, { recursive: true });
  await mkdir(join(folder, name, 'bin'));
  if (has.onPath) {
    await writeExecutable(onPath);
  }
  if (has.cached) {
    await writeExecutable(cached);
  }
  const environment = {
    PATH: ['/nowhere', join(folder, name, 'bin')].join(delimiter),
    XDG_CACHE_HOME: join(folder, name, 'cache'),
    TEMPORAL_AGENTS_NO_DOWNLOAD: '1',
  };
  return { environment, cache, onPath, cached };
}

/** A shell script that can be run. */
export async function writeExecutable(path: string, script = 'echo it runs'): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}
