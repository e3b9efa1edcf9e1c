/** What a poke needs: how to send it, whether it is still needed, and what to do when the run is gone. */
export interface PokeOptions {
  send(): Promise<void>;
  needed(): boolean;
  /** Whether a failed send means that there is no such run any more. */
  isGone(error: unknown): boolean;
  gone(): void;
}

/** Several steps asked one after the other make one poke. Milliseconds. */
const DEBOUNCE = 10;
const LONGEST_BACKOFF = 10_000;

/**
 * Tells the run that its loop has something. A signal that the server took is durable: it is sent once, again only if
 * the call failed, and not before the next `advance` came. A run that knows another loop ignores it; then nobody comes,
 * and the sweep drops this loop.
 */
export class Poke {
  readonly #options: PokeOptions;
  #armed = false;
  /** How many `advance` calls came: a poke is for what came after one of them, and needless once the next is here. */
  #advances = 0;

  constructor(options: PokeOptions) {
    this.#options = options;
  }

  /** The loop has something, and nobody waits for it. */
  ready(): void {
    if (this.#armed) return;
    this.#armed = true;
    const advances = this.#advances;
    setTimeout(() => void this.#send(advances, 0), DEBOUNCE).unref();
  }

  /** An `advance` came: the next thing to tell needs a poke of its own. */
  advanced(): void {
    this.#armed = false;
    this.#advances++;
  }

  async #send(advances: number, tries: number): Promise<void> {
    if (advances !== this.#advances || !this.#options.needed()) return;
    try {
      await this.#options.send();
    } catch (error) {
      if (this.#options.isGone(error)) return this.#options.gone();
      const backoff = Math.min(LONGEST_BACKOFF, 500 * 2 ** tries);
      setTimeout(() => void this.#send(advances, tries + 1), backoff).unref();
    }
  }
}
