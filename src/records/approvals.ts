import type { ApprovalsCarry, Decision } from '../protocol/advance.ts';
import type { PendingApproval, PendingQuestion, RefusedSignal } from '../protocol/signals.ts';
import type { StepApproval } from '../protocol/step.ts';
import { whyNotFits } from './fits-schema.ts';
import { jsonBytes } from './run-records.ts';

interface Asked extends Omit<PendingApproval, 'withdrawn'> {
  waiting: boolean;
  answer?: StepApproval['answer'];
  onTimeout?: StepApproval['onTimeout'];
  escalate?: StepApproval['escalate'];
  /** Others were asked, and this is what happens when they do not decide in time. */
  escalated?: 'reject' | 'approve';
  decision?: Decision;
}

const KEPT_REFUSALS = 20;
/** Larger arguments are not shown: all that waits must fit one answer to a query. */
const SHOWN_INPUT_BYTES = 32 * 1024;

/** An answer is a record, which goes over to each next run. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** A signal's payload that cannot be decoded. */
export class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/**
 * The approvals of one run. Ids are minted here, in the order in which steps ask (`issue_refund-1`), and belong to the
 * step's key, so that they are the same after a crash, a redeploy, a reset and continue-as-new.
 * What arrives by signal is untrusted: `decide` takes anything and either accepts it or keeps a refusal.
 */
export class Approvals {
  readonly #minted: Map<string, number>;
  readonly #asked = new Map<string, Asked>();
  readonly refused: RefusedSignal[] = [];

  constructor(carry?: ApprovalsCarry) {
    this.#minted = new Map(carry?.minted);
    for (const [key, { id, decision, open, answer, escalated }] of carry?.asked ?? []) {
      const shown = open ?? { name: '', prompt: '', askedAt: 0 };
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
    this.#asked.set(key, {
      id: before?.id ?? this.#mint(request.name),
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
    if (asked) asked.waiting = false;
  }

  /** Takes a decision for an approval that waits. Answers why not, if it is refused; the refusal is kept. */
  decide(signal: string, payload: unknown, at: number): string | undefined {
    const reason = this.#decide(signal, payload, at);
    if (reason !== undefined) {
      this.refused.push({ signal, reason, at });
      if (this.refused.length > KEPT_REFUSALS) this.refused.shift();
    }
    return reason;
  }

  /** The questions that wait for a person, in the order in which they were asked. */
  questions(askedNow: (key: string) => boolean): PendingQuestion[] {
    return [...this.#asked]
      .filter(([, asked]) => asked.waiting && !asked.decision && asked.answer)
      .map(([key, asked]) => {
        const { name: _name, ...shown } = shownOf(asked);
        return { ...shown, schema: asked.answer!, ...(!askedNow(key) && { withdrawn: true as const }) };
      });
  }

  /** The approvals that wait for a person, in the order in which they were asked. */
  pending(askedNow: (key: string) => boolean): PendingApproval[] {
    return [...this.#asked]
      .filter(([, asked]) => asked.waiting && !asked.decision && !asked.answer)
      .map(([key, { input, ...asked }]) => ({
        ...shownOf(asked),
        ...(input !== undefined && jsonBytes(input) <= SHOWN_INPUT_BYTES && { input }),
        ...(!askedNow(key) && { withdrawn: true as const }),
      }));
  }

  carry(): ApprovalsCarry {
    return {
      minted: [...this.#minted],
      asked: [...this.#asked].map(([key, asked]) => {
        const { id, ...open } = shownOf(asked);
        return [
          key,
          {
            id,
            ...(asked.decision && { decision: asked.decision }),
            ...(asked.waiting && { open }),
            ...(asked.answer && { answer: asked.answer }),
            ...(asked.escalated && { escalated: asked.escalated }),
          },
        ];
      }),
    };
  }

  #mint(name: string): string {
    const n = (this.#minted.get(name) ?? 0) + 1;
    this.#minted.set(name, n);
    return `${name}-${n}`;
  }

  #decide(signal: string, payload: unknown, at: number): string | undefined {
    const waiting = [...this.#asked.values()].filter((asked) => asked.waiting && !asked.decision);
    const ids = waiting.map((asked) => asked.id).join(', ') || 'nothing';
    if (payload instanceof Unreadable) return `it cannot be read (${clip(payload.why)}); what waits: ${ids}`;
    const id = this.#idOf(signal, payload);
    if (id === undefined) return `it has no "id"; what waits: ${ids}`;
    const asked = [...this.#asked.values()].find((candidate) => candidate.id === id);
    if (!asked) return `nothing here has the id "${clip(id)}"; what waits: ${ids}`;
    if (asked.decision) {
      const { approved, by = asked.decision.timedOut && 'timeout', at: when } = asked.decision;
      const how = asked.answer ? 'answered' : approved ? 'approved' : 'rejected';
      return `"${id}" was already ${how}${by ? ` by ${by}` : ''} at ${new Date(when).toISOString()}`;
    }
    if (!asked.waiting) return `"${id}" does not wait any more`;
    const isAnswer = signal === 'answer';
    if (isAnswer !== (asked.answer !== undefined))
      return `"${id}" is ${isAnswer ? 'to be approved: send "approve" or "reject"' : 'a question: send "answer" with a "value"'}`;
    const { value } = payload as { value?: unknown };
    const wrong = isAnswer ? whyNoAnswer(asked.answer!, value) : undefined;
    if (wrong !== undefined) return `the answer to "${id}" does not fit: ${clip(wrong)}`;
    const text = (field: string) => {
      const given = (payload as Record<string, unknown>)[field];
      return typeof given === 'string' ? given.slice(0, 2_000) : undefined;
    };
    const [reason, by] = [text('reason'), text('by')];
    asked.decision = {
      approved: signal !== 'reject',
      ...(isAnswer && { value }),
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
      at,
    };
    asked.waiting = false;
    return undefined;
  }

  /** An answer needs no id where there was only ever one question. */
  #idOf(signal: string, payload: unknown): string | undefined {
    if (typeof payload !== 'object' || payload === null) return undefined;
    const { id } = payload as { id?: unknown };
    if (typeof id === 'string') return id;
    const questions = [...this.#asked.values()].filter(({ answer }) => answer);
    return signal === 'answer' && id === undefined && questions.length === 1 ? questions[0]!.id : undefined;
  }
}

function whyNoAnswer(schema: Record<string, unknown>, value: unknown): string | undefined {
  if (value === undefined) return 'it has no "value"';
  const bytes = jsonBytes(value);
  if (bytes > MAX_ANSWER_BYTES) return `it has ${bytes} bytes; the limit is ${MAX_ANSWER_BYTES}`;
  return whyNotFits(schema, value);
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

/** What is shown of an approval, and goes over to the next run. */
function shownOf({ id, name, prompt, askedAt, expiresAt, audience }: Omit<Asked, 'waiting'>) {
  return {
    id,
    name,
    prompt,
    askedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(audience !== undefined && { audience }),
  };
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
