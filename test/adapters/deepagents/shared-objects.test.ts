/** An agent object that runs have in common: what it keeps to itself is not shared, and the same after a restart. */
import { expect, test } from '@jest/globals';
import { approve, records } from '../../../src/index.ts';
import { contractScene } from '../../contract/contract-scene.ts';
import { unique } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import { module, script } from './deep-agents.ts';

const { spawn, start, bodiesOf, callsOf } = contractScene({ module }, script);

test('two runs summarize into files of their own, also in another process and another order', async () => {
  const queue = unique('shared');
  const first = await spawn(queue);
  const ids = ['one', 'two'].map((name) => `${queue}-${name}`);
  const handles = [];
  for (const id of ids) {
    const handle = await start('shared', queue, `case:${id}`, id);
    await untilWaiting(handle, ['charge-1']);
    handles.push(handle);
  }
  await first.kill();
  const second = await spawn(queue);
  const sessions = [];
  for (const handle of handles.toReversed()) {
    await handle.signal(approve, { id: 'charge-1' });
    sessions.push(await handle.result());
    const kept = (await handle.query(records)).filter(
      ({ kind, name }) => kind === 'tool' && name.includes('.'),
    );
    expect(kept.map(({ name }) => name)).toEqual([
      'FilesystemBackend.downloadFiles',
      'FilesystemBackend.write',
      'FilesystemBackend.downloadFiles',
      'FilesystemBackend.uploadFiles',
    ]);
  }
  expect(new Set(sessions).size).toBe(2);
  for (const id of ids) {
    expect(bodiesOf(id)).toEqual({ 'picks it case:X': 1, 'charges 1 case:X': 1 });
    // Three turns, and two summaries.
    expect(callsOf(id)).toHaveLength(5);
  }
  await second.kill();
});
