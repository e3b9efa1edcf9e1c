/** What a benchmark prints: markdown, so that it can be kept as it is. */
import { ratios, spread } from './statistics.ts';

/** Writes one line. */
export function line(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a table; the first row is its head. */
export function table(rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  line();
  for (const row of [head, head.map(() => '---'), ...body]) line(`| ${row.join(' | ')} |`);
  line();
}

/** A number with so many digits after the point, and commas. */
export function digits(count: number): (value: number) => string {
  return (value) =>
    value.toLocaleString('en-US', { minimumFractionDigits: count, maximumFractionDigits: count });
}

/** What was measured of a subject, one value a round. */
export interface Series {
  label: string;
  values: readonly number[];
}

/** Prints each subject's values, and their ratios to those of some of the subjects. */
export function compare(
  title: string,
  series: readonly Series[],
  options: { show?: (value: number) => string; bases?: readonly string[] } = {},
): void {
  const { show = digits(1), bases = series.slice(0, 1).map(({ label }) => label) } = options;
  const based = bases.map((label) => series.find((each) => each.label === label)!);
  table([
    [title, 'median (least to most)', ...bases.map((label) => `of ${label}`)],
    ...series.map(({ label, values }) => [
      label,
      spread(values, show),
      ...based.map((base) => spread(ratios(values, base.values), digits(2))),
    ]),
  ]);
}
