/** Limits that come from Temporal, with their source. Bytes unless the name says otherwise. */

/** A payload the server takes: `limit.blobSize.error`, 2 MiB by default; kept a little under it for the envelope. */
export const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024 - 16 * 1024;
/**
 * A content of memory, as UTF-8: less than half a payload, so that a run can record what it reads, although JSON writes
 * each quote and line end of a text as two characters.
 */
export const MAX_MEMORY_BYTES = 1_000_000;
/** Steps handed out by one `advance`: a marker and the commands made from it must fit one message of 4 MB. */
export const MAX_BATCH_BYTES = 512 * 1024;
/** Records a run may carry to the next one: beside them stand input, decisions and counters. */
export const MAX_CARRY_BYTES = 1_500_000;
/** The same where payloads are kept in a blob store: what a worker's memory and one read of the store should bear. */
export const MAX_STORED_CARRY_BYTES = 64 * 1024 * 1024;
/** Steps in flight: the server takes at most 2,000 pending activities, children and timers each. */
export const MAX_IN_FLIGHT = 500;
/**
 * Steps in flight once their answers came faster than tasks can take them: two events each, and the server ends a task
 * behind which 100 events wait (`history.maximumBufferedEventsBatch`).
 */
export const CROWDED_IN_FLIGHT = 45;
/** Events at which a run that could not continue as new fails, a little before the server's 51,200 ends it. */
export const MAX_HISTORY_EVENTS = 48_000;
/** History bytes at which it fails, a little before the server's 50 MB ends it. */
export const MAX_HISTORY_BYTES = 45 * 1024 * 1024;
/** Events at which a run waits for what is in flight, so as to continue as new. */
export const DRAIN_AT_EVENTS = 15_000;
/** Processes that a step may lose before it counts as the cause. */
export const MAX_LOST_HOSTS = 3;
/** Processes that died one after the other while a loop's own code ran, after the first, before it counts as the cause. */
export const MAX_DEATHS = 5;
/** Tokens that a turn is taken to answer at most, where neither its request nor a budget says so. */
export const MAX_OUTPUT_TOKENS = 4_096;
/** A failure's message is cut at this length. */
export const MAX_MESSAGE_CHARS = 8_000;
