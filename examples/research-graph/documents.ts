/** The documentation of this repository, by sections. */
import { readdir, readFile } from 'node:fs/promises';

const folder = new URL('../../docs/', import.meta.url);

/** The three sections that have most of the words of a query, cut to 1,000 characters each. */
export async function sectionsAbout(query: string): Promise<string> {
  const words = new Set(query.toLowerCase().match(/[a-z]{4,}/g));
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const texts = await Promise.all(files.map(async (file) => await readFile(new URL(file, folder), 'utf8')));
  const sections = texts.flatMap((text) => text.split(/^(?=## )/m));
  const score = (section: string) => [...words].filter((word) => section.toLowerCase().includes(word)).length;
  const best = sections.toSorted((a, b) => score(b) - score(a)).slice(0, 3);
  return best.map((section) => section.slice(0, 1_000)).join('\n\n');
}
