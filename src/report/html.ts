/** Pieces of HTML, made by preact: what they are given is text, whatever stands in it. */
import { type ComponentChildren, h, type VNode } from 'preact';
import type { Bar } from './rows.ts';

export type Html = VNode<any>;

export const div = (className: string, ...children: ComponentChildren[]): Html =>
  h('div', { class: className }, ...children);
export const span = (className: string, ...children: ComponentChildren[]): Html =>
  h('span', { class: className }, ...children);
export const link = (href: string, ...children: ComponentChildren[]): Html => h('a', { href }, ...children);

/** The bars of a row, on the time of its run. */
export function track(bars: readonly Bar[]): Html {
  return span(
    'track',
    bars.map(({ left, width, look }) =>
      h('i', { class: look, style: `left:${round(left)}%;width:${round(width)}%` }),
    ),
  );
}

/** Names and texts, two by two. */
export function facts(pairs: readonly (readonly [string, ComponentChildren])[]): Html {
  return h(
    'dl',
    null,
    pairs.map(([name, text]) => [h('dt', null, name), h('dd', null, text)]),
  );
}

/** A list with a heading; nothing, if there is nothing to list. */
export function list(title: string, lines: readonly ComponentChildren[]): Html[] {
  if (lines.length === 0) return [];
  const items = lines.map((line) => h('li', null, line));
  return [h('h3', null, title), h('ul', null, items)];
}

export function round(hundredths: number): number {
  return Math.round(hundredths * 100) / 100;
}
