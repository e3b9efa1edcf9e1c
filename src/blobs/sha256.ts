import { createHash } from 'node:crypto';

/** SHA-256 in hex: names of anything as segments of keys, and what contents are known by. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
