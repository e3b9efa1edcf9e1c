/** A report as one file of HTML: no script, nothing from elsewhere, so what a model said stays text. */
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { div, facts, type Html, link, list, round, span, track } from './html.ts';
import type { Row } from './rows.ts';
import { type RunView, spentBy } from './view.ts';
import { STYLE } from './style.ts';
import { budgetParts } from '../records/budget-words.ts';
import { addSpent } from '../records/spent.ts';
import { reasoningWords } from '../records/token-words.ts';
import { count, countOf, dollars, duration, roundDuration } from '../records/numbers.ts';
import { shown } from './text.ts';

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
  const all = runs(root);
  const body = h(
    'body',
    null,
    h('header', null, h('h1', null, root.agent, ' ', h('small', null, root.workflowId)), summary(root)),
    (all.length > 1 || root.unread.length > 0) &&
      h('nav', { 'aria-label': 'Runs' }, h('h2', null, 'Runs'), marks(root), h('ul', null, tree(root))),
    h('main', null, legend(), all.map(section)),
  );
  return `<!doctype html>\n${renderToString(h('html', { lang: 'en' }, head, body))}\n`;
}

function runs(run: RunView): RunView[] {
  return [run, ...run.children.flatMap(runs)];
}

function unreadBelow(run: RunView): number {
  return run.children.reduce((sum, child) => sum + unreadBelow(child), run.unread.length);
}

function summary(root: RunView): Html {
  const all = runs(root).map(({ usage }) => usage);
  const lost = all.map((usage) => usage.lost).reduce(addSpent);
  const replayed = all.map((usage): Spent => usage.replayed).reduce(addSpent);
  const restarts = sumOf(all, (usage) => usage.replayed.restarts);
  const ms = sumOf(all, (usage) => usage.replayed.ms);
  const calls = sumOf(all, (usage) => usage.cached.calls);
  const { before, priceTable } = root.usage;
  const unread = unreadBelow(root);
  const without = unread > 0 ? `; without ${countOf(unread, 'run')} that could not be read` : '';
  const pairs: [string, Html | string][] = [
    ['Status', status(root)],
    [root.running ? 'For' : 'Took', duration(root.ms)],
    ['Spent', spentText(spentBy(root)) + without],
  ];
  if (root.ended !== undefined) pairs.splice(1, 0, ['Ended with', root.ended]);
  const budget = budgetParts(root.usage.budget);
  if (budget.length > 0) pairs.push(['Budget', budget.join('; ')]);
  if (lost.turns > 0) pairs.push(['Perhaps paid for nothing', spentText(lost)]);
  if (restarts > 0) {
    pairs.push(['Restarts', `${countOf(restarts, 'time')}, which took ${duration(ms)}`]);
    pairs.push(['Not paid again', spentText(replayed)]);
  }
  if (before.turns > 0) pairs.push(['Paid by the run before', spentText(before)]);
  const had = sumOf(all, (usage) => usage.cached.durationMs);
  if (calls > 0)
    pairs.push(['From the cache', `${countOf(calls, 'call')}, which had taken ${duration(had)}`]);
  if (priceTable !== undefined) pairs.push(['Prices', shown(priceTable)]);
  return facts(pairs);
}

function sumOf(all: readonly RunUsage[], amount: (usage: RunUsage) => number): number {
  return all.reduce((total, usage) => total + amount(usage), 0);
}

function status({ status: text }: RunView): Html {
  return span(`status ${text.replaceAll(' ', '-')}`, text);
}

function spentText({ turns, usage, usd, unpriced }: Spent): string {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage;
  const parts = [
    countOf(turns, 'turn'),
    `${count(input)} tokens in${cacheRead > 0 ? ` (${count(cacheRead)} from the provider's cache)` : ''}${cacheWrite > 0 ? ` (${count(cacheWrite)} into it)` : ''}`,
    `${count(output)} out${reasoningWords(usage)}`,
    dollars(usd),
  ];
  const unknown = unpriced.map((name) => shown(name, 100)).join(', ');
  return parts.join(', ') + (unknown && `; no price is known for ${unknown}`);
}

/** A run, with its bar on the time of the root, and those below it. */
function tree(run: RunView): Html {
  const { id, agent, depth, ms, bar, answered, waits, sleeps, listens } = run;
  const about = [
    countOf(answered, 'step'),
    waits.length > 0 ? `waits for ${countOf(waits.length, 'decision')}` : [],
    sleeps ? 'sleeps' : [],
    listens ? 'waits for a message' : [],
  ].flat();
  const below = [
    ...run.children.map(tree),
    ...run.unread.map(({ workflowId, why }) =>
      h(
        'li',
        null,
        div('run unread', span('name', indent(depth + 1), workflowId, h('em', null, `not read: ${why}`))),
      ),
    ),
  ];
  return h(
    'li',
    { key: id },
    div(
      'run',
      span('name', indent(depth), link(`#${id}`, agent), ' ', h('small', null, about.join(', '))),
      status(run),
      track([bar]),
      span('ms', duration(ms)),
      span('usd', dollars(spentBy(run).usd)),
    ),
    below.length > 0 && h('ul', null, below),
  );
}

function indent(depth: number): Html | undefined {
  return depth === 0 ? undefined : h('span', { class: 'indent', style: `width:${depth * 1.2}rem` });
}

/** The marks of a run's time, above its bars. */
function marks({ timeline }: RunView): Html {
  return h(
    'div',
    { class: 'row marks', 'aria-hidden': 'true' },
    span(
      'track',
      timeline.marks.map((ms) =>
        h('span', { style: `left:${round((ms / timeline.ms) * 100)}%` }, ms === 0 ? '0' : roundDuration(ms)),
      ),
    ),
  );
}

function legend(): Html {
  const looks = ['turn', 'tool', 'step', 'agent', 'wait', 'open', 'gap'];
  const names = ['turn', 'tool', 'step', 'agent', 'waits', 'goes on', 'nothing under way'];
  return h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    looks.map((look, n) =>
      h('span', null, h('i', { class: look === 'open' ? 'tool open' : look }), names[n]),
    ),
  );
}

function section(run: RunView): Html {
  const { id, agent, workflowId, parent, timeline, answered, rows, ended } = run;
  return h(
    'section',
    { id, key: id },
    h('h2', null, agent, ' ', h('small', null, workflowId), ' ', status(run)),
    h(
      'p',
      null,
      parent !== undefined && link(`#${parent}`, 'The step that it answers'),
      ' ',
      run.link !== undefined && link(run.link, "Open in Temporal's UI"),
    ),
    list('Ended with', ended === undefined ? [] : [ended]),
    list('Waits for a person', run.waits),
    list('Decisions', run.decisions),
    h('h3', null, `Steps (${count(answered)})`),
    h(
      'div',
      { class: 'steps', style: `--mark:${round((timeline.apart / timeline.ms) * 100)}%` },
      marks(run),
      rows.map(step),
    ),
  );
}

function step(row: Row): Html {
  const { id, no, kind, name, about, bars, ms, notes, failed, usd, facts: pairs, child } = row;
  const cells = [
    span('no', no),
    span('kind', kind),
    span(
      'name',
      span('line', name, about !== undefined && [' ', h('small', null, about)]),
      notes.length > 0 && h('em', null, notes.join('; ')),
    ),
    track(bars),
    span('ms', duration(ms)),
    span('usd', usd),
  ];
  // Nothing was under way, so there is nothing to read of it.
  if (id === undefined) return div('row gap', ...cells);
  const shownChild: [string, Html | string][] = child
    ? [['Child', child.id === undefined ? child.workflowId : link(`#${child.id}`, child.workflowId)]]
    : [];
  return h(
    'details',
    { id, key: id, class: failed ? 'failed' : undefined },
    h('summary', { class: 'row' }, cells),
    facts([...pairs, ...shownChild]),
  );
}
