/** Ends the output of a test run with one plain line: how many tests passed, and how many failed. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    // A file that could not be run at all has no tests that could have failed.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // Jest's own summary comes after all reporters.
    process.on('exit', () => void process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`));
  }
}
