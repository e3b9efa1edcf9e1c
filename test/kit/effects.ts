/** What really happened, whichever process it happened in: a file to which bodies of tools and agents add lines. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Effect {
  pid: number;
  at: number;
  what: string;
}

/** A new file for effects; pass its path to worker processes as `EFFECTS`. */
export function newEffects(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'effects-')), 'log');
  process.env['EFFECTS'] = path;
  return path;
}

/** Notes that something happened, in the file that `EFFECTS` names. */
export function note(what: string): void {
  const path = process.env['EFFECTS'];
  if (path) appendFileSync(path, `${process.pid} ${Date.now()} ${what}\n`);
}

export function effects(path = process.env['EFFECTS']!): Effect[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [pid, at, ...what] = line.split(' ');
      return { pid: Number(pid), at: Number(at), what: what.join(' ') };
    });
}

/** How often each thing happened. */
export function tally(path?: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what } of effects(path)) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
}
