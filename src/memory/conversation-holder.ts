import { ApplicationFailure } from '@temporalio/common';
import { ConcurrencyError, ConversationBusyError } from '../errors/index.ts';
import { jsonContent } from './content.ts';
import type { MemoryVersion } from './memory.ts';
import { assertConversationId } from './memory-path.ts';
import { ofStep, said, type User } from './user.ts';
import type { Attempt, Draft, Versions } from './versions.ts';

/** A run that holds a conversation. */
export interface Holder {
  workflowId: string;
  /** First run id of its chain. */
  chain: string;
}

/** How to take what another holds: fail, or fail so that it is tried again. */
export type WhenHeld = 'reject' | 'queue';

/** Who holds a conversation, as the newest version of a path beside it: one run at a time. Nothing there: nobody. */
export class ConversationHolder {
  readonly #versions: Versions;
  readonly #user: User;
  readonly #path: string;

  constructor(versions: Versions, user: User, conversation: string) {
    assertConversationId(conversation);
    this.#versions = versions;
    this.#user = user;
    this.#path = `conversations/${conversation}.holder`;
  }

  /**
   * Takes it, and answers by what it is given back.
   * @param isOver whether a run is over, so that it counts as gone
   * @throws ConversationBusyError if another has it
   */
  async take(who: Holder, whenHeld: WhenHeld, isOver: (holder: Holder) => Promise<boolean>): Promise<string> {
    const request = { whenHeld };
    return await this.#user.use(
      { what: 'holdConversation', path: this.#path, request },
      async (attempt, step) => {
        const newest = await this.#newest();
        if (newest?.holder?.id === attempt.id) return attempt.id;
        if (newest?.holder && !(await isOver(newest.holder))) throw busy(newest.holder, whenHeld);
        const content = jsonContent(this.#path, { ...who, id: attempt.id });
        const expectedVersion = newest?.version ?? 0;
        try {
          await this.#write({ reason: 'hold', content, expectedVersion }, attempt, step);
        } catch (error) {
          throw error instanceof ConcurrencyError ? busy(undefined, whenHeld) : error;
        }
        return attempt.id;
      },
    );
  }

  /** Gives back what was taken; what another has taken since stays. */
  async giveBack(id: string): Promise<void> {
    const use = { what: 'giveConversationBack', path: this.#path, request: { id } };
    await this.#user.use(use, async (attempt, step) => {
      const newest = await this.#newest();
      if (newest?.holder?.id !== id) return;
      try {
        await this.#write({ reason: 'give back', expectedVersion: newest.version }, attempt, step);
      } catch (error) {
        if (!(error instanceof ConcurrencyError)) throw error;
      }
    });
  }

  async #newest(): Promise<{ version: number; holder?: Holder & { id: string } } | undefined> {
    for await (const { version, text } of this.#versions.of(this.#path)) {
      const holder = text === undefined ? undefined : (JSON.parse(text) as Holder & { id: string });
      return { version, ...(holder && { holder }) };
    }
    return undefined;
  }

  async #write(
    draft: Omit<Draft, 'actor' | 'run'>,
    attempt: Attempt,
    step: string | undefined,
  ): Promise<MemoryVersion | undefined> {
    const { run, actor } = this.#user;
    const who = said(`Cannot write ${this.#path}`, 'actor', actor);
    const by = { actor: who, ...ofStep(run, step) };
    return await this.#versions.write(this.#path, { ...draft, ...by }, attempt);
  }
}

function busy(holder: Holder | undefined, whenHeld: WhenHeld): Error {
  const who = holder ? `run ${holder.workflowId}` : 'another run';
  const error = new ConversationBusyError(
    `Cannot go on in the conversation: ${who} holds it. Try again when that is over, or use another "whenBusy".`,
    { ...(holder && { workflowId: holder.workflowId }) },
  );
  // Temporal tries again, for as long as it takes; in between nothing waits here.
  return whenHeld === 'queue' ? ApplicationFailure.retryable(error.message, error.name) : error;
}
