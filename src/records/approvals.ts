import type { ApprovalsCarry, Decision, Door } from '../protocol/advance.ts';
import type {
  PendingApproval,
  PendingQuestion,
  Refusal,
  RefusedSignal,
  SentDecision,
  TakenDecision,
} from '../protocol/signals.ts';
import type { StepApproval } from '../protocol/step.ts';
import { clip, whyUnfit } from './refusals.ts';
import { jsonBytes } from './run-records.ts';

interface Asked extends Omit<PendingApproval, 'withdrawn' | 'escalated'> {
  waiting: boolean;
  answer?: Record<string, unknown>;
  escalate?: StepApproval['escalate'];
  /** Others were asked, and this is what happens when they do not decide in time. */
  escalated?: 'reject' | 'approve';
  decision?: Decision;
}

const KEPT_REFUSALS = 20;
/** Larger arguments are not shown: all that waits must fit one answer to a query. */
const SHOWN_INPUT_BYTES = 32 * 1024;

/**
 * The approvals of one run. Ids are minted here, in the order in which steps ask (`issue_refund-1`), and belong to the
 * step's key, so that they are the same after a crash, a redeploy, a reset and continue-as-new.
 * What arrives is untrusted, and is read by `readDecision`.
 */
export class Approvals {
  /** What all ids of this run begin with: of a child, its place in the run at the root. */
  readonly #path: string;
  readonly #minted: Map<string, number>;
  readonly #asked = new Map<string, Asked>();
  readonly refused: RefusedSignal[] = [];
  /** How often what waits has changed. */
  changes = 0;

  constructor(carry?: ApprovalsCarry, path = '') {
    this.#path = path;
    this.#minted = new Map(carry?.minted);
    for (const [key, { id, name = '', argumentsHash, decision, open, answer, escalated }] of carry?.asked ??
      []) {
      const shown = open ?? {
        name,
        prompt: '',
        askedAt: 0,
        ...(argumentsHash !== undefined && { argumentsHash }),
      };
      this.#asked.set(key, {
        id,
        ...shown,
        waiting: open !== undefined,
        ...(answer && { answer }),
        ...(escalated && { escalated, onTimeout: escalated }),
        ...(decision && { decision }),
      });
    }
  }

  /**
   * A step asks; asking again (after a restart, in the next run of the chain) finds the same id, decision and end.
   * Answers when it is decided without a person, if ever.
   */
  ask(
    key: string,
    request: StepApproval & { name: string; input?: unknown; at: number },
  ): number | undefined {
    const before = this.#asked.get(key);
    const { at, timeoutMs, ...shown } = request;
    const askedAt = before?.askedAt || at;
    const expiresAt = before?.expiresAt ?? (timeoutMs === undefined ? undefined : askedAt + timeoutMs);
    if (before?.escalated) {
      // Others have been asked, who stay asked.
      const { audience: _audience, onTimeout: _onTimeout, escalate: _escalate, ...still } = shown;
      this.#asked.set(key, { ...before, ...still, waiting: !before.decision });
      return before.expiresAt;
    }
    if (!before) this.changes++;
    this.#asked.set(key, {
      id: before?.id ?? this.mint(request.name),
      ...shown,
      askedAt,
      ...(expiresAt !== undefined && { expiresAt }),
      waiting: !before?.decision,
      ...(before?.decision && { decision: before.decision }),
    });
    return expiresAt;
  }

  /** Nobody decided in time. Answers until when others, who are asked then, may. */
  expire(key: string, at: number): number | undefined {
    const asked = this.#asked.get(key);
    if (!asked || asked.decision || !asked.waiting) return undefined;
    this.changes++;
    if (asked.escalate) return escalate(asked, at);
    const approved = asked.onTimeout === 'approve';
    asked.decision = {
      approved,
      timedOut: true,
      ...(!approved && {
        reason: `${asked.name} was not ${asked.answer ? 'answered' : 'approved'}: nobody decided in time.`,
      }),
      at,
    };
    asked.waiting = false;
    return undefined;
  }

  decision(key: string): Decision | undefined {
    return this.#asked.get(key)?.decision;
  }

  /** The step no longer waits: it has its decision and starts, or nobody wants its answer. */
  close(key: string): void {
    const asked = this.#asked.get(key);
    if (!asked) return;
    if (asked.waiting) this.changes++;
    asked.waiting = false;
  }

  /** Keeps a refusal, to be shown. */
  refuse(signal: string, reason: string, at: number): void {
    this.refused.push({ signal, reason, at });
    if (this.refused.length > KEPT_REFUSALS) this.refused.shift();
  }

  /** Takes a decision. Answers whose it is, or why it is refused. */
  take(sent: SentDecision, at: number, door?: Door, others?: readonly string[]): { id: string } | Refusal {
    const refusal = this.whyNot(sent, others);
    if (refusal) return refusal;
    const asked = this.#find(sent)!;
    const { how, value, arguments: changed, reason, note, by } = sent;
    asked.decision = {
      approved: how !== 'reject',
      ...(how === 'answer' && { value }),
      ...(changed !== undefined && { arguments: changed }),
      ...(reason !== undefined && { reason }),
      ...(note !== undefined && { note }),
      ...(by !== undefined && { by }),
      at,
      ...(door && { door }),
    };
    asked.waiting = false;
    this.changes++;
    return { id: asked.id };
  }

  /** The questions that wait for a person, in the order in which they were asked. */
  questions(askedNow: (key: string) => boolean): PendingQuestion[] {
    return [...this.#asked]
      .filter(([, asked]) => asked.waiting && !asked.decision && asked.answer)
      .map(([key, asked]) => {
        const { name: _name, ...shown } = shownOf(asked);
        return {
          ...shown,
          ...inputOf(asked),
          schema: asked.answer!,
          ...(!askedNow(key) && { withdrawn: true as const }),
        };
      });
  }

  /** The approvals that wait for a person, in the order in which they were asked. */
  pending(askedNow: (key: string) => boolean): PendingApproval[] {
    return [...this.#asked]
      .filter(([, asked]) => asked.waiting && !asked.decision && !asked.answer)
      .map(([key, asked]) => ({
        ...shownOf(asked),
        ...inputOf(asked),
        ...(!askedNow(key) && { withdrawn: true as const }),
      }));
  }

  carry(): ApprovalsCarry {
    return {
      minted: [...this.#minted],
      asked: [...this.#asked].map(([key, asked]) => {
        const { id, escalated: _escalated, ...open } = shownOf(asked);
        return [
          key,
          {
            id,
            name: asked.name,
            ...(asked.argumentsHash !== undefined && { argumentsHash: asked.argumentsHash }),
            ...(asked.decision && { decision: asked.decision }),
            ...(asked.waiting && { open }),
            ...(asked.answer && { answer: asked.answer }),
            ...(asked.escalated && { escalated: asked.escalated }),
          },
        ];
      }),
    };
  }

  /** A name for what is below this run, which no id and no other name has. */
  mint(name: string): string {
    const n = (this.#minted.get(name) ?? 0) + 1;
    this.#minted.set(name, n);
    return `${this.#path}${name}-${n}`;
  }

  /** Why a decision would be refused; `undefined`: it would be taken. Changes nothing. */
  whyNot(sent: SentDecision, others?: readonly string[]): Refusal | undefined {
    const { id } = sent;
    const asked = this.#find(sent);
    if (!asked && id === undefined)
      return this.withIds({ code: 'malformed', reason: 'it has no "id"' }, others);
    if (!asked) {
      const reason = `nothing here has the id "${clip(id!)}"`;
      return this.withIds({ code: 'unknown-id', reason }, others);
    }
    if (asked.decision) {
      const { timedOut, at } = asked.decision;
      const { by = timedOut && 'timeout' } = asked.decision;
      const when = `${by ? ` by ${by}` : ''} at ${new Date(at).toISOString()}`;
      const code = timedOut ? 'expired' : 'already-decided';
      return { code, reason: `"${asked.id}" was already ${outcomeOf(asked, asked.decision)}${when}` };
    }
    if (!asked.waiting) return { code: 'closed', reason: `"${asked.id}" does not wait any more` };
    return whyUnfit(asked, sent);
  }

  /** A refusal that names what waits, here and below. */
  withIds({ code, reason }: Refusal, others: readonly string[] = []): Refusal {
    const waiting = [...this.#asked.values()].filter((asked) => asked.waiting && !asked.decision);
    const ids = [...waiting.map(({ id }) => id), ...others].slice(0, 20).join(', ') || 'nothing';
    return { code, reason: `${reason}; what waits: ${ids}` };
  }

  /** The decisions that were taken, in the order in which they were asked for. */
  decisions(): TakenDecision[] {
    return [...this.#asked.values()].flatMap((asked) => {
      if (!asked.decision) return [];
      const { approved, timedOut, ...decision } = asked.decision;
      const { id, name, argumentsHash } = asked;
      const how = timedOut && asked.answer ? 'unanswered' : outcomeOf(asked, { approved });
      return [
        {
          id,
          name,
          decision: how,
          ...(timedOut && { timedOut }),
          ...decision,
          ...(argumentsHash !== undefined && { argumentsHash }),
        },
      ];
    });
  }

  /** By its id, in a child also without the path; an answer needs none where there was only ever one question. */
  #find({ id, how }: SentDecision): Asked | undefined {
    const all = [...this.#asked.values()];
    if (id !== undefined) return all.find((asked) => asked.id === id || asked.id === `${this.#path}${id}`);
    const questions = all.filter(({ answer }) => answer);
    return how === 'answer' && questions.length === 1 ? questions[0] : undefined;
  }
}

function outcomeOf(
  { answer }: Asked,
  { approved }: { approved: boolean },
): 'answered' | 'approved' | 'rejected' {
  if (answer) return 'answered';
  return approved ? 'approved' : 'rejected';
}

function escalate(asked: Asked, at: number): number | undefined {
  const { audience, timeoutMs, onTimeout = 'reject' } = asked.escalate!;
  delete asked.escalate;
  asked.escalated = asked.onTimeout = onTimeout;
  if (audience !== undefined) asked.audience = audience;
  if (timeoutMs === undefined) delete asked.expiresAt;
  else asked.expiresAt = at + timeoutMs;
  return asked.expiresAt;
}

/** What it is about, unless that is too large for a query. */
function inputOf({ input }: Pick<Asked, 'input'>) {
  return input !== undefined && jsonBytes(input) <= SHOWN_INPUT_BYTES && { input };
}

/** What is shown of an approval, and goes over to the next run. */
function shownOf(asked: Omit<Asked, 'waiting'>) {
  const { id, name, prompt, askedAt, expiresAt, audience, argumentsHash, edit } = asked;
  const onTimeout = asked.escalate ? 'escalate' : asked.onTimeout;
  return {
    id,
    name,
    prompt,
    askedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(onTimeout && { onTimeout }),
    ...(audience !== undefined && { audience }),
    ...(asked.escalated && { escalated: true as const }),
    ...(argumentsHash !== undefined && { argumentsHash }),
    ...(edit && { edit }),
  };
}
