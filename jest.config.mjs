/** What takes long: tests of their own, and some that do more then. */
const soak = [
  'soak/**/*',
  'contract/*',
  'examples/langchain-js',
  'adapters/langchain/graph-of-thirty',
  'promises/report-of-a-long-run',
  'adapters/deepagents/crashes',
].map((tests) => `<rootDir>/test/${tests}.test.ts`);

/** @type {import('jest').Config} */
export default {
  testMatch: process.env.TEST_SOAK ? soak : ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: process.env.TEST_SOAK
    ? ['/node_modules/']
    : ['/node_modules/', '<rootDir>/test/soak/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/kit/strip-types.mjs' },
  testEnvironment: '<rootDir>/test/kit/environment.mjs',
  testEnvironmentOptions: { customExportConditions: ['@temporal-agents/source', 'node', 'node-addons'] },
  globalSetup: '<rootDir>/test/kit/global-setup.mjs',
  globalTeardown: '<rootDir>/test/kit/global-teardown.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/kit/close-connections.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/'],
  reporters: [
    'default',
    '<rootDir>/test/kit/count-reporter.mjs',
    '<rootDir>/test/kit/capability-reporter.mjs',
  ],
  testTimeout: 120_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
