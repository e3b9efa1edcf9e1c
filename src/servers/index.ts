export type { Environment } from './environment.ts';
export { findServerBinary, type FindServerOptions } from './find-server-binary.ts';
export { pinnedBinaries, type PinnedBinary, type PinnedWheel, type ServerKind } from './pinned-binaries.ts';
export { ServerNotFoundError, type TriedPlace } from './server-not-found-error.ts';
export {
  startDevServer,
  type DevServer,
  type SearchAttributeType,
  type StartDevServerOptions,
} from './start-dev-server.ts';
export { startTestServer, type StartTestServerOptions, type TestServer } from './start-test-server.ts';
