/**
 * Writes what the contract's tests found for each framework to docs/capabilities.md, or fails if that page says something
 * else: after a run of all of them, of which none failed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/capabilities.md', root);
const files = readdirSync(new URL('test/contract/', root)).filter((file) => file.endsWith('.test.ts'));
const adapters = readdirSync(new URL('adapters/', root), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export default class CapabilityReporter {
  #error;

  async onRunComplete(_contexts, { testResults: all }) {
    const ran = all.filter(({ testFilePath: path }) => /\/test\/contract\/[^/]+\.test\.ts$/.test(path));
    const tests = ran.flatMap(({ testResults }) => testResults);
    if (ran.length < files.length || tests.some(({ status }) => status !== 'passed')) return;
    const text = pageOf(tests, await versions());
    if (process.env.CAPABILITIES === 'write') writeFileSync(page, text);
    else if (readFileSync(page, 'utf8') !== text)
      this.#error = new Error(
        'docs/capabilities.md does not say what the contract found. Run npm run capabilities.',
      );
  }

  getLastError() {
    return this.#error;
  }
}

async function versions() {
  const each = await Promise.all(
    adapters.map(async (name) => await import(new URL(`adapters/${name}/dependencies.ts`, root))),
  );
  const packages = each.flatMap(({ dependency, others = [] }) => [dependency, ...others]);
  return [...new Map(packages.map((one) => [one.name, one])).values()];
}

function pageOf(tests, packages) {
  const frameworks = [];
  /** Headings, with their promises, with the frameworks that keep them. */
  const kept = new Map();
  for (const { ancestorTitles, title } of tests) {
    const [framework, promise] = split(ancestorTitles.length > 0 ? ancestorTitles[0] : title);
    if (promise === undefined) continue;
    const heading = ancestorTitles.length > 0 ? promise : 'on its own';
    const row = ancestorTitles.length > 0 ? withoutCase(title) : promise;
    if (!frameworks.includes(framework)) frameworks.push(framework);
    const rows = kept.get(heading) ?? new Map();
    kept.set(heading, rows.set(row, (rows.get(row) ?? new Set()).add(framework)));
  }
  frameworks.sort((a, b) => a.localeCompare(b));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const table = [line(['', ...frameworks]), line(['---', ...frameworks.map(() => ':-:')])];
  for (const heading of [...kept.keys()].toSorted((a, b) => a.localeCompare(b))) {
    table.push(line([`**${capital(heading)}**`, ...frameworks.map(() => '')]));
    for (const [row, by] of [...kept.get(heading)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      table.push(line([row, ...frameworks.map((each) => (by.has(each) ? '✓' : ''))]));
  }
  return `# What is tested with each framework

Each row is a promise, and each mark a test of it with that framework: real packages, a real server, workers killed with \`kill -9\`. \`npm run capabilities\` writes this page from what the tests found, and the tests fail if it says something else. An empty cell: the framework does not have that, or its adapter does not know it.

${table.join('\n')}

## Versions

| package | supported | tested |
| --- | --- | --- |
${packages.map(({ name, range, tested }) => line([`\`${name}\``, `\`${range}\``, tested.join(', ')])).join('\n')}
`;
}

/** `LangChain: a run with …` */
function split(title) {
  const at = title.indexOf(': ');
  return at < 0 ? [title] : [title.slice(0, at), title.slice(at + 2)];
}

/** Which step it was killed at, or which change there was, does not matter here. */
function withoutCase(title) {
  return title
    .replace(/ killed (in its second run )?at [\s\S]*$/, ' killed $1at its steps')
    .replace(/: \w+$/, '');
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
