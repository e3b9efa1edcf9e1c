/**
 * The benchmarks: this package beside a bare workflow and beside Temporal's own plugin for the OpenAI Agents SDK, on one
 * machine, interleaved and repeated. `npm run bench` runs all; `npm run bench -- history recovery` some; `--quick` all
 * with small loads.
 */
import { parseArgs } from 'node:util';
import { prepare } from './kit/bundles.ts';
import { describeMachine, load } from './kit/machine.ts';
import type { Measure } from './kit/measure.ts';
import { line } from './kit/report.ts';
import { approvalLatency } from './measures/approval-latency.ts';
import { atOnce } from './measures/at-once.ts';
import { detection } from './measures/detection.ts';
import { history } from './measures/history.ts';
import { loadTime } from './measures/load-time.ts';
import { longChat } from './measures/long-chat.ts';
import { memory } from './measures/memory.ts';
import { rebuild } from './measures/rebuild.ts';
import { recovery } from './measures/recovery.ts';
import { workerStart } from './measures/worker-start.ts';
import { timePerStep } from './measures/time-per-step.ts';

const measures: readonly Measure[] = [
  timePerStep,
  atOnce,
  history,
  longChat,
  workerStart,
  loadTime,
  memory,
  approvalLatency,
  recovery,
  rebuild,
  detection,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' } },
});
const unknown = positionals.find((name) => !measures.some((measure) => measure.name === name));
if (unknown !== undefined) {
  const names = measures.map(({ name, about }) => `  ${name}: ${about}`).join('\n');
  process.stderr.write(`Cannot measure "${unknown}": there is no such measure. There are:\n${names}\n`);
  process.exit(1);
}
await prepare();
line(await describeMachine());
for (const measure of measures) {
  if (positionals.length > 0 && !positionals.includes(measure.name)) continue;
  line(`\n## ${measure.name}\n\n${measure.about}. Load before: ${load()}.\n`);
  try {
    await measure.run({ quick: values.quick ?? false });
  } catch (error) {
    line(`Not measured: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
process.exit();
