/** What JSON makes of a value, for frameworks whose values may hold bytes: those become base64 text. */
export function plainJson(value: unknown): unknown {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, field, ofField: unknown) {
    const own = this[field];
    return ArrayBuffer.isView(own)
      ? Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString('base64')
      : ofField;
  });
  return JSON.parse(json) as unknown;
}
