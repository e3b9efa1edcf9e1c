import { jsonOf } from '../src/loop/fingerprint.ts';

/** What JSON makes of a value, for frameworks whose values may hold more: bytes become base64 text, bigints text, maps and sets lists. */
export function plainJson(value: unknown): unknown {
  return JSON.parse(jsonOf(value)!) as unknown;
}
