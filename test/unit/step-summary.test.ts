import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stepSummary } from '../../src/records/step-summary.ts';

const summaryOf = (asked: string) => stepSummary({ no: 1, key: 'k', kind: 'turn', name: 'gpt-4.1', asked });

test('names a step and what it is asked', () => {
  expect(summaryOf('Where is my order?')).toBe('gpt-4.1: Where is my order?');
  const input = { order_id: 'A-1001', usd: 249 };
  expect(stepSummary({ no: 1, key: 'k', kind: 'tool', name: 'issue_refund', input })).toBe(
    'issue_refund: {"order_id":"A-1001","usd":249}',
  );
  expect(stepSummary({ no: 1, key: 'k', kind: 'tool', name: 'now' })).toBe('now');
});

test.each([
  ['[click](https://evil.example)', 'click https evil.example'],
  ['![](http://evil.example/pixel.png) www.evil.example', 'http evil.example/pixel.png evil.example'],
  ['<script>alert(1)</script>', 'script alert 1 /script'],
  ['**bold** _it_ `code` a|b # c', 'bold it code a b c'],
  ['line\nline\u001b[31m \u202eevil', 'line line 31m evil'],
])('has no markdown, no link and no HTML in it: %j', (asked, shown) => {
  expect(summaryOf(asked)).toBe(`gpt-4.1: ${shown}`);
});

test('is small, and whole characters, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (asked) => {
      const summary = summaryOf(asked);
      expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(123);
      expect(summary).not.toContain('\ufffd');
      expect(summary).not.toMatch(/[\n`*[\]<>|~]/);
    }),
  );
});
