/** What a model's answer costs: by the user's own prices, else by a kept table, `@pydantic/genai-prices`. */
import { DeclarationError } from '../errors/index.ts';
import type { Usage } from '../protocol/usage.ts';

/** US dollars for a million tokens. */
export interface ModelPrice {
  /** Of input that was neither read from nor written to the provider's cache. */
  input: number;
  output: number;
  /** @default as `input` */
  cacheRead?: number;
  /** @default as `input` */
  cacheWrite?: number;
}

/** The table whose prices are used; its version, since it names no date. */
export const PRICE_TABLE = '@pydantic/genai-prices 0.1.8';

const MILLION = 1_000_000;
const KINDS = new Set(['input', 'output', 'cacheRead', 'cacheWrite']);

export class Prices {
  readonly #own: ReadonlyMap<string, ModelPrice>;

  /** @throws DeclarationError for a price that is no number of 0 or more */
  constructor(own: Readonly<Record<string, ModelPrice>> = {}) {
    for (const [model, price] of Object.entries(own)) assertPrice(model, price);
    this.#own = new Map(Object.entries(own));
  }

  /** Where prices are from. */
  get table(): string {
    return this.#own.size > 0 ? `own prices, ${PRICE_TABLE}` : PRICE_TABLE;
  }

  /** US dollars of a turn; `undefined`: nobody knows the price. Never throws. */
  async usdOf(model: string, usage: Usage): Promise<number | undefined> {
    const own = this.#own.get(model);
    if (own) return usdBy(own, usage);
    try {
      // 0.8 MB, which a worker that asks no model need not load.
      const { calcPrice } = await import('@pydantic/genai-prices');
      const { input, output, cacheRead, cacheWrite, inputAudio, outputAudio } = usage;
      const tokens = {
        input_tokens: input,
        output_tokens: output,
        ...(cacheRead !== undefined && { cache_read_tokens: cacheRead }),
        ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
        ...(inputAudio !== undefined && { input_audio_tokens: inputAudio }),
        ...(outputAudio !== undefined && { output_audio_tokens: outputAudio }),
      };
      return calcPrice(tokens, model)?.total_price;
    } catch {
      // Counts that do not add up, as some providers send them.
      return undefined;
    }
  }
}

function usdBy({ input, output, cacheRead = input, cacheWrite = input }: ModelPrice, usage: Usage): number {
  const read = usage.cacheRead ?? 0;
  const written = usage.cacheWrite ?? 0;
  const plain = Math.max(0, usage.input - read - written);
  return (plain * input + read * cacheRead + written * cacheWrite + usage.output * output) / MILLION;
}

function assertPrice(model: string, price: ModelPrice): void {
  const given = Object.entries(price ?? {});
  const bad = given.find(([kind, usd]) => !KINDS.has(kind) || !(Number.isFinite(usd) && usd >= 0));
  if (bad || price?.input === undefined || price.output === undefined)
    throw new DeclarationError(
      `Cannot price ${model}: give US dollars for a million tokens, as { input: 2, output: 8, cacheRead: 0.5 }.`,
    );
}
