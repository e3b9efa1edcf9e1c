import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltPackage, buildPackage } from '../kit/built-package.ts';

let built: BuiltPackage;
beforeAll(async () => void (built = await buildPackage('decorator')));
afterAll(() => built.remove());

test('a method with the decorator is a tool of each instance, once it is compiled', async () => {
  const compiled = await built.compile('test/fixtures/decorated-tools.ts');
  const module = pathToFileURL(join(compiled, 'test/fixtures/decorated-tools.js')).href;
  expect(await built.evaluate(`await import(${JSON.stringify(module)});`, '--no-warnings')).toEqual({
    results: ['tea at first', 'tea at second'],
    detached: 'milk at first',
    name: 'find_price',
    required: ['item'],
    refused: 'ToolInputError',
    onPrototype: false,
  });
});
