/** A report as one file of HTML: no script, nothing from elsewhere, so what a model said stays text. */
import { type ComponentChildren, h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Spent } from '../protocol/usage.ts';
import { count, dollars, duration, type Row, type RunView, spentBy } from './view.ts';

type Node = VNode<any>;
const div = (className: string, ...children: ComponentChildren[]): Node =>
  h('div', { class: className }, ...children);
const span = (className: string, ...children: ComponentChildren[]): Node =>
  h('span', { class: className }, ...children);

/** The whole page. */
export function pageOf(root: RunView): string {
  const head = h(
    'head',
    null,
    h('meta', { charset: 'utf-8' }),
    h('meta', {
      'http-equiv': 'Content-Security-Policy',
      content: "default-src 'none'; style-src 'unsafe-inline'",
    }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('title', null, `${root.agent} ${root.workflowId}`),
    h('style', null, STYLE),
  );
  const body = h(
    'body',
    null,
    h('header', null, h('h1', null, root.agent, ' ', h('small', null, root.workflowId)), summary(root)),
    root.children.length + root.unread.length > 0 &&
      h('nav', { 'aria-label': 'Runs' }, h('ul', null, tree(root))),
    h('main', null, runs(root).map(section)),
  );
  return `<!doctype html>\n${renderToString(h('html', { lang: 'en' }, head, body))}\n`;
}

function runs(run: RunView): RunView[] {
  return [run, ...run.children.flatMap(runs)];
}

function summary(root: RunView): Node {
  const { lost, replayed, before, cached, priceTable } = root.usage;
  return h(
    'dl',
    null,
    fact('Status', root.status.toLowerCase()),
    fact('Took', duration(root.ms)),
    fact('Spent', spentText(spentBy(root))),
    lost.turns > 0 && fact('Perhaps lost with workers', spentText(lost)),
    replayed.restarts > 0 && fact(`Not paid again, ${replayed.restarts} restarts`, spentText(replayed)),
    before.turns > 0 && fact('Paid by the run before', spentText(before)),
    cached.calls > 0 &&
      fact('From the cache', `${cached.calls} calls, which had taken ${duration(cached.durationMs)}`),
    priceTable !== undefined && fact('Prices', priceTable),
  );
}

function fact(name: string, value: string): Node[] {
  return [h('dt', null, name), h('dd', null, value)];
}

function list(title: string, lines: readonly string[]): Node[] {
  if (lines.length === 0) return [];
  const items = lines.map((line) => h('li', null, line));
  return [h('h3', null, title), h('ul', null, items)];
}

function spentText({ turns, usage, usd, unpriced }: Spent): string {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const parts = [
    `${count(turns)} turns`,
    `${count(input)} tokens in${cacheRead > 0 ? ` (${count(cacheRead)} from the provider's cache)` : ''}${cacheWrite > 0 ? ` (${count(cacheWrite)} into it)` : ''}`,
    `${count(output)} out${reasoning > 0 ? ` (${count(reasoning)} reasoning)` : ''}`,
    dollars(usd),
  ];
  return parts.join(', ') + (unpriced.length > 0 ? `; no price is known for ${unpriced.join(', ')}` : '');
}

function tree(run: RunView): Node {
  const below = [
    ...run.children.map(tree),
    ...run.unread.map(({ workflowId, why }) => h('li', null, workflowId, ': ', why)),
  ];
  return h(
    'li',
    { key: run.id },
    h('a', { href: `#${run.id}` }, run.agent),
    ' ',
    h('small', null, `${run.status.toLowerCase()}, ${duration(run.ms)}, ${dollars(spentBy(run).usd)}`),
    below.length > 0 && h('ul', null, below),
  );
}

function section(run: RunView): Node {
  return h(
    'section',
    { id: run.id, key: run.id },
    h('h2', null, run.agent, ' ', h('small', null, run.workflowId)),
    run.link !== undefined && h('p', null, h('a', { href: run.link }, "Open in Temporal's UI")),
    list('Under way', run.open),
    list('Decisions', run.decisions),
    h('h3', null, `Steps (${count(run.rows.length)})`),
    div('steps', run.rows.map(step)),
  );
}

function step(row: Row): Node {
  const { no, kind, name, left, width, ms, notes, failed, tokens, usd, bytes, asked, answer, child } = row;
  return h(
    'details',
    { key: no, class: failed ? 'failed' : undefined },
    h(
      'summary',
      null,
      span('no', no + 1),
      span(`kind ${kind}`, kind),
      span('name', name, notes.length > 0 && h('em', null, notes.join('; '))),
      span('track', h('i', { class: kind, style: `left:${left.toFixed(2)}%;width:${width.toFixed(2)}%` })),
      span('ms', duration(ms)),
      span('usd', usd ?? ''),
    ),
    h(
      'dl',
      null,
      asked !== undefined && [h('dt', null, 'Asked'), h('dd', null, h('code', null, asked))],
      answer !== undefined && [
        h('dt', null, failed ? 'Failed' : 'Answered'),
        h('dd', null, h('code', null, answer)),
      ],
      tokens !== undefined && [h('dt', null, 'Tokens'), h('dd', null, tokens)],
      [h('dt', null, 'Size'), h('dd', null, `${count(bytes)} bytes`)],
      child !== undefined && [
        h('dt', null, 'Child'),
        h('dd', null, h('a', { href: `#${child}` }, 'its steps')),
      ],
    ),
  );
}

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 15%, Canvas); --dim: color-mix(in srgb, CanvasText 60%, Canvas); }
* { box-sizing: border-box; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1.5rem; background: Canvas; color: CanvasText; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; border-top: 1px solid var(--line); padding-top: 1rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
small { color: var(--dim); font-weight: normal; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; } dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: .25rem 0; padding-left: 1.25rem; }
code { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9em; }
details { border-bottom: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 2rem; }
summary { display: grid; grid-template-columns: 3rem 5rem minmax(8rem, 1fr) minmax(6rem, 2fr) 5rem 6rem; gap: .5rem; align-items: center; padding: .25rem; cursor: pointer; list-style: none; }
summary:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
.no, .ms, .usd { text-align: right; color: var(--dim); font-variant-numeric: tabular-nums; }
.name { overflow: hidden; overflow-wrap: anywhere; unicode-bidi: isolate; } .name em { display: block; font-size: .85em; color: var(--dim); }
.track { position: relative; height: .8rem; background: color-mix(in srgb, CanvasText 5%, Canvas); } .track i { position: absolute; top: 0; bottom: 0; background: #8a8a8a; }
.track i.turn { background: #5b7fd6; } .track i.tool { background: #3f9a72; } .track i.agent { background: #a46ac0; } .track i.approval { background: #d09a2e; } .track i.message { background: #d09a2e; }
.failed > summary .name { color: #c0392b; }
details > dl { margin: .25rem 0 .75rem 8.5rem; }
@media (max-width: 50rem) { summary { grid-template-columns: 2rem 4rem 1fr 4rem; } .track, .usd { display: none; } details > dl { margin-left: 1rem; } }
@media print { details { content-visibility: visible; break-inside: avoid; } body { max-width: none; } }
`;
