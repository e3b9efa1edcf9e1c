export default async function globalTeardown() {
  await globalThis.temporalDevServer.stop();
}
