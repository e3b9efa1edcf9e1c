import type { Closure } from './step-request.ts';

/**
 * Counts the attempts of a turn that failed without an answer: a timeout, a connection that was cut. The provider may have
 * charged them; one that it refused with a status it has not.
 */
export function countLost(turn: Closure): Closure {
  let lost = 0;
  return async (signal, edited) => {
    try {
      const answer = await turn(signal, edited);
      return lost > 0 ? { ...answer, lost } : answer;
    } catch (error) {
      if (typeof (error as { status?: unknown } | undefined)?.status !== 'number') lost++;
      throw error;
    }
  };
}
