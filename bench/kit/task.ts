/** What a benchmark asks of a run. The same for every subject, so that all do the same work. */
export interface Task {
  /** Calls of the tool, one after each turn; one more turn ends the run. */
  calls: number;
  /** Bytes of text in each answer of the model. */
  answerBytes: number;
  /** Bytes of each result of the tool. */
  resultBytes: number;
  /** How long each answer of the model takes, in milliseconds. @default 0 */
  turnMs?: number;
  /** How long each call of the tool takes, in milliseconds, by its number. @default 0 */
  callMs?: readonly number[];
  /** The first call that needs an approval; so do all after it. @default none does */
  approvalsFrom?: number;
  /** The conversation so far, in texts that user and assistant said in turn. @default a short question */
  chat?: readonly string[];
}

/** Arguments of the tool: which call it is, and what it has to do. */
export interface Call {
  i: number;
  bytes: number;
  ms: number;
}

/** Arguments of a task's call. */
export function callOf(task: Task, i: number): Call {
  return { i, bytes: task.resultBytes, ms: task.callMs?.[i] ?? 0 };
}

/** Whether a person has to approve a task's call. */
export function needsApproval(task: Task, i: number): boolean {
  return task.approvalsFrom !== undefined && i >= task.approvalsFrom;
}

/** What the model is told to be: the task itself, which the scripted model reads. */
export function instructionsOf(task: Task): string {
  return JSON.stringify({ ...task, chat: undefined });
}

/** A conversation as the SDK takes it. */
export function inputOf({ chat }: Task) {
  if (!chat) return 'Do it.';
  return chat.map((text, i) =>
    i % 2 === 0
      ? { role: 'user' as const, content: text }
      : {
          role: 'assistant' as const,
          status: 'completed' as const,
          content: [{ type: 'output_text' as const, text }],
        },
  );
}
