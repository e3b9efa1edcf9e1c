/** The search attributes of a run, by which it is found in lists. A run sets those that its server knows. */

/** The agent's name. */
export const AGENT_NAME = { name: 'AgentName', type: 'KEYWORD' } as const;
/** What the run, and the children that are over, have cost so far, in US dollars. */
export const AGENT_COST_USD = { name: 'AgentCostUsd', type: 'DOUBLE' } as const;
/** Tokens in and out of the run, and of the children that are over, so far. */
export const AGENT_TOKENS = { name: 'AgentTokens', type: 'INT' } as const;
/**
 * What the run, or one below it, waits for people with: `approval`, `question`, and `escalated` while others have been
 * asked about one of those. Unset while it waits for nobody.
 */
export const AGENT_WAITING = { name: 'AgentWaiting', type: 'KEYWORD_LIST' } as const;
/** The audiences of what waits, as `requiresApproval` and `ask` say them; the first 255 characters of each. */
export const AGENT_AUDIENCE = { name: 'AgentAudience', type: 'KEYWORD_LIST' } as const;

/** All of them. */
export const SEARCH_ATTRIBUTES = [
  AGENT_NAME,
  AGENT_COST_USD,
  AGENT_TOKENS,
  AGENT_WAITING,
  AGENT_AUDIENCE,
] as const satisfies { name: string; type: keyof typeof INDEXED_VALUE_TYPES }[];

/** Their types as the server numbers them: `temporal.api.enums.v1.IndexedValueType`. */
export const INDEXED_VALUE_TYPES = { KEYWORD: 2, INT: 3, DOUBLE: 4, KEYWORD_LIST: 7 } as const;

/** The same types as Temporal's command lines call them. */
export const TYPE_NAMES = {
  KEYWORD: 'Keyword',
  INT: 'Int',
  DOUBLE: 'Double',
  KEYWORD_LIST: 'KeywordList',
} as const;

/** What a run can be found by, as of when it asked its loop to go on. */
export interface RunFacts {
  /** Model turns of the run, and of the children that are over. */
  turns: number;
  /** US dollars. */
  usd: number;
  /** In and out. */
  tokens: number;
  /** Of `AgentWaiting`, in alphabetical order; absent: nothing. */
  waiting?: string[];
  /** Of `AgentAudience`, in alphabetical order; absent: none. */
  audience?: string[];
  /** How often what waits has changed. */
  changes: number;
}
