/** Fires when a step's signal does, or the one that the caller of the framework gave, if any. */
export function eitherSignal(signal: AbortSignal, given: AbortSignal | null | undefined): AbortSignal {
  return given ? AbortSignal.any([signal, given]) : signal;
}
