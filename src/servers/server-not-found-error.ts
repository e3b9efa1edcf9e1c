import { AgentError } from '../errors/index.ts';
import type { ServerKind } from './pinned-binaries.ts';

/** One place in which a server was looked for, and why it is not there. */
export interface TriedPlace {
  place: string;
  result: string;
}

/** Thrown when a Temporal server is neither running, nor installed, nor to be fetched. Lists every place tried. */
export class ServerNotFoundError extends AgentError {
  readonly code = 'server_not_found';
  /** Every place that was tried, in order. */
  readonly tried: readonly TriedPlace[];

  constructor(kind: ServerKind, tried: readonly TriedPlace[]) {
    const [what, remedy] = texts[kind];
    const list = tried.map(({ place, result }) => `\n  - ${place}: ${result}`).join('');
    super(`Cannot find ${what}: none of these places has it. ${remedy}${list}`);
    this.tried = tried;
  }
}

const texts: Record<ServerKind, [what: string, remedy: string]> = {
  dev: [
    'the Temporal dev server',
    'Install the Temporal CLI so that `temporal` is on PATH, or set TEMPORAL_ADDRESS to a server that runs.',
  ],
  test: [
    'the time-skipping test server',
    'Put `temporal-test-server` on PATH, or set TEMPORAL_TEST_SERVER_ADDRESS to one that runs.',
  ],
};
