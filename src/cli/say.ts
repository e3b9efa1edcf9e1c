/** What the command line writes: text of models, tools and people moves no cursor and sets no colour. */
import { shown } from '../report/text.ts';

/** As much of a line as is written. Characters. */
const LINE_CHARS = 2_000;

/** Writes lines to standard output. */
export function say(lines: string): void {
  process.stdout.write(plain(lines));
}

/** Writes lines to standard error. */
export function complain(lines: string): void {
  process.stderr.write(plain(lines));
}

function plain(lines: string): string {
  return lines
    .split('\n')
    .map((line) => shown(line, LINE_CHARS))
    .join('\n');
}
