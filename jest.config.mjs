/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/kit/strip-types.mjs' },
  testEnvironment: '<rootDir>/test/kit/environment.mjs',
  testEnvironmentOptions: { customExportConditions: ['@temporal-agents/source', 'node', 'node-addons'] },
  globalSetup: '<rootDir>/test/kit/global-setup.mjs',
  globalTeardown: '<rootDir>/test/kit/global-teardown.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testTimeout: 120_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
