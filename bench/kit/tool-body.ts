/** Does what a call asks for: takes its time, with a sign of life each second, and gives so many bytes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from './task.ts';

/** @param heartbeat tells the server that the call is alive, where nothing else does */
export async function work(
  { bytes, ms }: Pick<Call, 'bytes' | 'ms'>,
  heartbeat?: () => void,
): Promise<string> {
  const end = Date.now() + ms;
  for (let left = ms; left > 0; left = end - Date.now()) {
    heartbeat?.();
    await delay(Math.min(left, 1_000));
  }
  return 'x'.repeat(bytes);
}
