/** Names on the wire. A dot or a slash keeps ours apart from a tool's, which may have neither. */

/** Local activity: let the loop go on. */
export const ADVANCE = 'agents.advance';
/** Activities that run a closure of the loop: a model turn, a framework's own tool, a named step. */
export const TURN = 'agents.turn';
export const CALL = 'agents.call';
export const STEP = 'agents.step';
/** Activity: watch a loop that is busy with its own work. */
export const AWAIT_LOOP = 'agents.awaitLoop';

/** Activity: read what another run has, to go on from there. */
export const READ_RUN = 'agents.readRun';
/** Activity: find the last run of a workflow id, to go on from it. */
export const LAST_RUN = 'agents.lastRun';
/** Activity that does nothing: once it is answered, the task in which it was scheduled is in the history. */
export const NOTED = 'agents.noted';
/** Query: what a run would hand over to one that goes on from it. */
export const CARRY_QUERY = '__agents_carry';

/** Field of a tool activity's result that holds what the loop asks next. */
export const AHEAD = '__agents_ahead';

/** First field of the input of a local activity, which no history has. */
export const LOCAL_INPUT = '__agents_local';

/** Signal: a loop has something for its run. */
export const POKE_SIGNAL = '__agents_poke';
/** Signal: a process begins to build a loop in a task that was tried before. */
export const BUILD_SIGNAL = '__agents_build';

/** Signal: what waits in a child, to its parent. */
export const NESTED_SIGNAL = '__agents_nested';
/** Signal: what a child may spend, from its parent. */
export const GRANT_SIGNAL = '__agents_grant';
/** Signal: a decision on something that waits in a child, from its parent. */
export const DECIDE_SIGNAL = '__agents_decide';

/** Keys of what a person is asked about a budget begin with it, and a `?`. */
export const BUDGET_KEY = 'budget';

/** A tool's or agent's name: what OpenAI, Anthropic and Gemini all accept as the name of a function. */
export const NAME_PATTERN = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
