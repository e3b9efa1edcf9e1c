/** How adapters instrument their frameworks: a method is replaced where it is, so that everyone's objects have it. */

type Method = (this: any, ...args: any[]) => unknown;

const patched = new WeakMap<object, Set<string>>();

/**
 * Puts `wrap(original)` in the place of a method, once, on whichever object of the target's prototype chain has it:
 * private fields, identity and `instanceof` stay as they are.
 * @returns whether there is such a method
 */
export function patchMethod(target: object, name: string, wrap: (original: Method) => Method): boolean {
  let owner: object | null = target;
  while (owner && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object | null;
  const descriptor = owner && Object.getOwnPropertyDescriptor(owner, name);
  if (!owner || typeof descriptor?.value !== 'function') return false;
  const names = patched.get(owner) ?? new Set();
  if (!names.has(name)) {
    Object.defineProperty(owner, name, { ...descriptor, value: wrap(descriptor.value as Method) });
    patched.set(owner, names.add(name));
  }
  return true;
}
