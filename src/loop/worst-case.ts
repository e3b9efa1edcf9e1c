/** What a model's turn takes at most, before anybody has counted its tokens. */
import type { WorstCase } from '../protocol/budget.ts';

/**
 * Fewer than any tokenizer in use makes of JSON: English text has about four, Chinese two to three, base64 two. An upper
 * bound for all but texts of rare scripts and emoji.
 */
const BYTES_PER_TOKEN = 2;
/** More than a provider counts for an image, whatever its size: OpenAI and Anthropic say at most some 1,600 to 5,000. */
const IMAGE_TOKENS = 6_000;

/** As parts of messages are called by OpenAI, Anthropic and others. */
const IMAGE_PARTS = new Set(['input_image', 'image', 'image_url']);

/** @param output how many tokens are answered at most */
export function worstCase(request: unknown, output: number): WorstCase {
  let images = 0;
  const json = JSON.stringify(request, (_field, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (!isImage(value)) return value;
    images++;
    return undefined;
  }) as string | undefined;
  return {
    input: Math.ceil(Buffer.byteLength(json ?? '') / BYTES_PER_TOKEN) + images * IMAGE_TOKENS,
    output,
  };
}

/** A part of a message that is an image, by its data, address or id; or the data of one. */
function isImage(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('data:image/');
  return IMAGE_PARTS.has((value as { type?: string } | null)?.type ?? '');
}
