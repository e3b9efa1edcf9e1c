/** An edit or a deletion whose worker vanished is made once, whatever had become of it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FilesystemBackend } from 'deepagents';
import { changeAgain } from '../../../adapters/deepagents/done-before.ts';

/** Makes the edit as a second attempt, of a file in which the first one left this. */
async function editAgain(left: string, before: string, after: string, everywhere = false) {
  const rootDir = mkdtempSync(join(tmpdir(), 'edits-'));
  writeFileSync(join(rootDir, 'a.txt'), left);
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const result = await changeAgain(
    backend,
    'edit',
    ['/a.txt', before, after, everywhere],
    async () => await backend.edit('/a.txt', before, after, everywhere),
  );
  return { result, text: readFileSync(join(rootDir, 'a.txt'), 'utf8') };
}

const made = (occurrences: number) => ({ path: '/a.txt', filesUpdate: null, occurrences });

test.each([
  { left: 'an old fact', before: 'old', after: 'new', text: 'an new fact' },
  { left: 'an new fact', before: 'old', after: 'new', text: 'an new fact' },
  { left: 'a fact', before: 'fact', after: 'fact, and more', text: 'a fact, and more' },
  { left: 'a fact, and more', before: 'fact', after: 'fact, and more', text: 'a fact, and more' },
  { left: 'a word too many', before: ' too many', after: '', text: 'a word' },
  { left: 'a word', before: ' too many', after: '', text: 'a word' },
])('an edit of "$left" from "$before" to "$after"', async ({ left, before, after, text }) => {
  expect(await editAgain(left, before, after)).toEqual({ result: made(1), text });
});

test.each(['a a a', 'b b b'])('an edit of all occurrences in "%s"', async (left) => {
  expect(await editAgain(left, 'a', 'b', true)).toEqual({ result: made(3), text: 'b b b' });
});

test('an edit that can neither have been made nor be made now is told as ever', async () => {
  const { result, text } = await editAgain('something else', 'old', 'new');
  expect(result).toEqual({ error: expect.stringContaining('not found') });
  expect(text).toBe('something else');
});

test.each([
  ['is gone', {}, { path: '/a.txt', filesUpdate: null }],
  ['cannot be deleted', { error: 'Error deleting it: EACCES' }, { error: 'Error deleting it: EACCES' }],
])('a deletion of a file that %s', async (_, answer, result) => {
  const gone = 'error' in answer ? answer : { error: "Error: '/a.txt' not found" };
  expect(await changeAgain({}, 'delete', ['/a.txt'], async () => gone)).toEqual(result);
});
