import type { Message } from '../protocol/signals.ts';
import { clip, MAX_TEXT_CHARS, Unreadable } from './refusals.ts';
import { jsonBytes } from './run-records.ts';

/** A message is a record once it is read, and records go over to each next run. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** So do unread ones. */
const MAX_UNREAD_BYTES = 256 * 1024;

interface Kept {
  /** The so-many-th that came. */
  no: number;
  message: Message;
  /** The key of the step that gets it; absent: nobody has asked for it. */
  reader?: string;
}

/**
 * What was said to a run and not read yet. Who waits first gets the first message, at the moment in which both are there,
 * so that which reader gets which message does not depend on what the workflow learns first.
 */
export class Inbox {
  #kept: Kept[];
  /** Steps that wait for a message, in the order in which they asked. */
  readonly #readers: string[] = [];
  /** How many there were in all. */
  count = 0;
  #closed = false;

  constructor(carry: readonly Message[] = []) {
    this.#kept = carry.map((message, i) => ({ no: i + 1, message }));
    this.count = carry.length;
  }

  /** Takes a message, as it was sent. Answers why not, if it is refused. */
  add(payload: unknown, at: number): string | undefined {
    const refusal = this.whyNot(payload);
    if (refusal !== undefined) return refusal;
    const { text, by } = (typeof payload === 'string' ? { text: payload } : payload) as Message;
    const message: Message = { text, ...(typeof by === 'string' && { by: by.slice(0, MAX_TEXT_CHARS) }), at };
    const reader = this.#readers.shift();
    this.#kept.push({ no: ++this.count, message, ...(reader !== undefined && { reader }) });
    return undefined;
  }

  /** Why a message would be refused; `undefined`: it would be taken. Changes nothing. */
  whyNot(payload: unknown): string | undefined {
    if (this.#closed) return 'the run is over';
    if (payload instanceof Unreadable) return `it cannot be read (${clip(payload.why)})`;
    const given = (typeof payload === 'string' ? { text: payload } : (payload ?? {})) as Partial<Message>;
    if (typeof given.text !== 'string' || given.text === '') return 'it has no "text"';
    const bytes = jsonBytes(given.text);
    if (bytes > MAX_MESSAGE_BYTES) return `it has ${bytes} bytes; the limit is ${MAX_MESSAGE_BYTES}`;
    if (bytes + jsonBytes(this.unread) > MAX_UNREAD_BYTES)
      return `${this.unread.length} messages are unread, and there is no room for more`;
    return undefined;
  }

  /** A step waits for the next message. */
  wait(reader: string): void {
    if (this.#readers.includes(reader) || this.#kept.some((kept) => kept.reader === reader)) return;
    const free = this.#kept.find((kept) => kept.reader === undefined);
    if (free) free.reader = reader;
    else this.#readers.push(reader);
  }

  /** A step waits no longer. Whether a message is there for it is what it is. */
  leave(reader: string): void {
    const at = this.#readers.indexOf(reader);
    if (at >= 0) this.#readers.splice(at, 1);
  }

  /** Whether there is a message for it. */
  has(reader: string): boolean {
    return this.#kept.some((kept) => kept.reader === reader);
  }

  /** Gives a step its message, which then is its record. */
  take(reader: string): Message | undefined {
    const found = this.#kept.find((kept) => kept.reader === reader);
    this.#kept = this.#kept.filter((kept) => kept !== found);
    return found?.message;
  }

  /** Gives all that nobody waits for, of the first so many that there were. */
  takeUpTo(count: number): Message[] {
    const taken = this.#kept.filter(({ reader, no }) => reader === undefined && no <= count);
    this.#kept = this.#kept.filter((kept) => !taken.includes(kept));
    return taken.map(({ message }) => message);
  }

  /** The run is over: gives what nobody has read, and takes nothing more. */
  close(): Message[] {
    this.#closed = true;
    const left = this.unread;
    this.#kept = [];
    return left;
  }

  /** What is not a record, in the order in which it came. */
  get unread(): Message[] {
    return this.#kept.map(({ message }) => message);
  }
}
