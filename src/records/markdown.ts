/** Markdown as Temporal's UI renders it, in which text of a model, a tool or a person stays text. */
import { withoutDirection } from './direction.ts';

/** A schema's texts are the agent's own; a fence in them would end the block. */
export function json(value: unknown): string[] {
  return ['```json', JSON.stringify(value).replaceAll('`', '\\u0060'), '```'];
}

/** Text of a model, a tool or a person: shown as text, whatever markdown or HTML it holds. */
export function plain(text: string, limit: number): string {
  let shown = '';
  for (const character of oneLine(text.slice(0, limit))) {
    shown += character.replace(/[\\`*_{}[\]()#+\-.!|<>&~:/@]/, (special) => `&#${special.charCodeAt(0)};`);
    if (shown.length > limit) break;
  }
  return shown.length > limit || text.length > limit ? `${shown}…` : shown;
}

export function code(text: string): string {
  return `\`${oneLine(text.slice(0, 80)).replaceAll('`', ' ')}\``;
}

/** A table, of cells that are markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [rowOf(head), rowOf(head.map(() => '---')), ...rows.map(rowOf)];
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A link within Temporal's UI to a workflow. */
export function workflowLink(namespace: string, workflowId: string, text: string): string {
  const path = [namespace, 'workflows', workflowId].map((part) => encodeURIComponent(part)).join('/');
  return `[${text}](/namespaces/${path.replaceAll(/[()]/g, (bracket) => (bracket === '(' ? '%28' : '%29'))})`;
}

/** Without line breaks and control characters, and without those that turn the reading direction around. */
function oneLine(text: string): string {
  return withoutDirection(text.replace(/[\s\p{Cc}]+/gu, ' '));
}
