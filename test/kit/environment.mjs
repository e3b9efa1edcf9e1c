import { types } from 'node:util';
import { TestEnvironment } from 'jest-environment-node';

/** Node environment in which an error or array made by a core module is still `instanceof Error` or `Array`. */
export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    const { Error, Array } = this.global;
    widen(Error, types.isNativeError);
    widen(Array, globalThis.Array.isArray);
  }
}

function widen(Class, isInstance) {
  const ordinary = Function.prototype[Symbol.hasInstance];
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(candidate) {
      return ordinary.call(this, candidate) || (this === Class && isInstance(candidate));
    },
  });
}
