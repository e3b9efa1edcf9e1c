const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Keeps the process alive while its workers drain. The first signal is Temporal's: it stops the workers and takes its
 * listeners away; a library that finds itself alone then would end the process (the tracing of OpenAI Agents does), and
 * the turn in flight with it. A second signal ends the process as it would without this.
 * @returns takes the listeners away
 */
export function outliveSignals(): () => void {
  let first = true;
  const listen = (signal: NodeJS.Signals) => {
    if (first) {
      first = false;
      return;
    }
    release();
    process.kill(process.pid, signal);
  };
  const release = () => {
    for (const signal of SIGNALS) process.off(signal, listen);
  };
  for (const signal of SIGNALS) process.on(signal, listen);
  return release;
}
