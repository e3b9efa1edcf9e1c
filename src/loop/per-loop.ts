/** Something that each loop has of its own, made when it is first needed and gone with the loop. */
export function perLoop<T>(make: () => T): (loop: object) => T {
  const ofLoops = new WeakMap<object, T>();
  return (loop) => {
    const own = ofLoops.get(loop) ?? make();
    ofLoops.set(loop, own);
    return own;
  };
}
