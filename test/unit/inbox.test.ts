import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Inbox } from '../../src/records/inbox.ts';
import { Unreadable } from '../../src/records/refusals.ts';

function withMessages(...texts: string[]): Inbox {
  const inbox = new Inbox();
  for (const text of texts) inbox.add(text, 1);
  return inbox;
}

test('each message is read once, in the order in which they came, whoever waited first', () => {
  const inbox = withMessages('a');
  for (const reader of ['r1', 'r2', 'r3']) inbox.wait(reader);
  inbox.add({ text: 'b', by: 'ann' }, 2);
  expect(['r1', 'r2', 'r3'].map((reader) => inbox.has(reader))).toEqual([true, true, false]);
  expect(inbox.take('r2')).toEqual({ text: 'b', by: 'ann', at: 2 });
  expect(inbox.take('r1')).toEqual({ text: 'a', at: 1 });
  expect([inbox.take('r1'), inbox.unread]).toEqual([undefined, []]);
});

test('who asks again waits once, and who waits no longer gets nothing', () => {
  const inbox = new Inbox();
  for (const reader of ['r1', 'r1', 'r2']) inbox.wait(reader);
  inbox.leave('r1');
  inbox.add('a', 1);
  inbox.add('b', 2);
  expect([inbox.has('r1'), inbox.has('r2')]).toEqual([false, true]);
  expect(inbox.unread.map(({ text }) => text)).toEqual(['a', 'b']);
});

test('which reader gets which message does not depend on which came first', () => {
  type Event = { wait: string } | { add: string };
  const readers = ['r1', 'r2', 'r3'].map((wait): Event => ({ wait }));
  const messages = ['a', 'b', 'c', 'd'].map((add): Event => ({ add }));
  const given = (events: Event[]) => {
    const inbox = new Inbox();
    for (const event of events) {
      if ('wait' in event) inbox.wait(event.wait);
      else inbox.add(event.add, 1);
    }
    return ['r1', 'r2', 'r3'].map((reader) => inbox.take(reader)?.text);
  };
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), (turns) => {
      const [some, others] = [[...readers], [...messages]];
      const events = turns.flatMap((turn) => (turn ? (some.shift() ?? []) : (others.shift() ?? [])));
      expect(given([...events, ...some, ...others])).toEqual(['a', 'b', 'c']);
    }),
  );
});

test('all that there were at a point are given at once, but for those that somebody waits for', () => {
  const inbox = withMessages('a', 'b', 'c', 'd');
  inbox.wait('r1');
  expect(inbox.takeUpTo(3).map(({ text }) => text)).toEqual(['b', 'c']);
  expect(inbox.takeUpTo(3)).toEqual([]);
  expect(inbox.take('r1')!.text).toBe('a');
  expect(inbox.takeUpTo(4).map(({ text }) => text)).toEqual(['d']);
});

test('what is unread goes over to the next run, also what was given to a reader that had no record', () => {
  const inbox = withMessages('a', 'b');
  inbox.wait('r1');
  const next = new Inbox(inbox.unread);
  expect(next.count).toBe(2);
  next.wait('r1');
  expect(next.take('r1')!.text).toBe('a');
  next.add('c', 3);
  expect(next.takeUpTo(3).map(({ text }) => text)).toEqual(['b', 'c']);
});

test.each([
  [undefined, 'it has no "text"'],
  [null, 'it has no "text"'],
  [7, 'it has no "text"'],
  ['', 'it has no "text"'],
  [[], 'it has no "text"'],
  [{ text: 7 }, 'it has no "text"'],
  ['x'.repeat(70_000), 'it has 70002 bytes; the limit is 65536'],
  [new Unreadable('no codec'), 'it cannot be read (no codec)'],
])('what is no message is refused: %#', (payload, reason) => {
  const inbox = new Inbox();
  expect([inbox.whyNot(payload), inbox.add(payload, 1)]).toEqual([reason, reason]);
  expect([inbox.unread, inbox.count]).toEqual([[], 0]);
});

test('so many unread messages that the next run could not take them over are refused', () => {
  const inbox = withMessages(...Array.from({ length: 4 }, () => 'x'.repeat(60_000)));
  expect(inbox.add('x'.repeat(60_000), 1)).toBe('4 messages are unread, and there is no room for more');
  inbox.wait('r1');
  inbox.take('r1');
  expect(inbox.add('x'.repeat(60_000), 1)).toBeUndefined();
});

test('a run that is over gives back what nobody has read, and takes nothing more', () => {
  const inbox = withMessages('a', 'b');
  inbox.wait('r1');
  expect(inbox.close().map(({ text }) => text)).toEqual(['a', 'b']);
  expect([inbox.add('c', 2), inbox.unread]).toEqual(['the run is over', []]);
});
