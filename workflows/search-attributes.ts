/**
 * The search attributes of a run. What is set follows from an answer of the loop, as all commands do: the run says with
 * what it asks what it could be found by, and goes by what the answer took account of.
 */
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import * as wf from '@temporalio/workflow';
import { type RunFacts, SEARCH_ATTRIBUTES } from '../src/protocol/search-attributes.ts';
import { changedValues, factsOf, isWorthTelling, type Values, valuesOf } from '../src/records/run-facts.ts';
import type { Waiting } from '../src/protocol/signals.ts';
import type { RunSpending } from '../src/records/run-spending.ts';
import type { LoopLink } from './loop-link.ts';

export interface SearchAttributesOptions {
  link: LoopLink;
  spending: RunSpending;
  /** What waits, here and below. */
  waiting: () => Pick<Waiting, 'approvals' | 'questions'>;
  /** How often that has changed. */
  changes: () => number;
}

export class SearchAttributes {
  readonly #options: SearchAttributesOptions;
  /** As of the last answer of the loop. */
  #taken: RunFacts | undefined;
  /** Turns of which cost and tokens were told. */
  #turnsTold: number | undefined;

  constructor(options: SearchAttributesOptions) {
    this.#options = options;
  }

  /** What waits has changed, and nobody was asked since. */
  get isDue(): boolean {
    return this.#names.length > 0 && this.#options.changes() > (this.#taken?.changes ?? 0);
  }

  /** What the run can be found by, if that has changed since the last answer and the server may want to know. */
  get news(): RunFacts | undefined {
    const { link } = this.#options;
    const mayBeTold = link.epoch === undefined || link.isLost() || this.#names.length > 0;
    if (!mayBeTold) return undefined;
    const facts = this.#facts;
    return JSON.stringify(facts) === JSON.stringify(this.#taken) ? undefined : facts;
  }

  /** An answer of the loop took account of this. */
  note(facts: RunFacts | undefined): void {
    if (!facts) return;
    this.#taken = facts;
    this.#turnsTold ??= facts.turns;
    const changed = this.#changed(facts);
    if (isWorthTelling(changed, facts.turns - this.#turnsTold)) this.#set(changed, facts);
  }

  /** The run goes on as a new one: the server is told what it has spent. */
  handOver(): void {
    if (this.#taken) this.#set(this.#changed(this.#taken), this.#taken);
  }

  /**
   * The run is over, and waits for nobody.
   * @param late it has waited for steps since its loop ended, which may have spent something
   */
  end(late = false): void {
    const last = late ? this.#facts : this.#taken;
    if (!last || !this.#taken) return;
    const { waiting: _waiting, audience: _audience, ...facts } = last;
    this.#set(this.#changed(facts), facts);
  }

  /** Those that the server has. */
  get #names(): readonly string[] {
    return this.#options.link.settings.searchAttributes ?? [];
  }

  get #facts(): RunFacts {
    const { waiting, spending, changes } = this.#options;
    return factsOf(waiting(), spending.all, changes());
  }

  #changed(facts: RunFacts): string[] {
    const { typedSearchAttributes } = wf.workflowInfo();
    const has: Values = {};
    for (const key of SEARCH_ATTRIBUTES) has[key.name] = typedSearchAttributes.get(key);
    const changed = changedValues(valuesOf(wf.workflowInfo().workflowType, facts), has);
    return changed.filter((name) => this.#names.includes(name));
  }

  #set(names: readonly string[], facts: RunFacts): void {
    if (names.length === 0) return;
    const values = valuesOf(wf.workflowInfo().workflowType, facts);
    const keys = SEARCH_ATTRIBUTES.filter(({ name }) => names.includes(name));
    wf.upsertSearchAttributes(
      keys.map((key) => ({ key, value: values[key.name] ?? null }) as SearchAttributeUpdatePair),
    );
    this.#turnsTold = facts.turns;
  }
}
