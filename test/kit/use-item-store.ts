/** All that a store of LangGraph is used for, and what it answers: the same of every store. */
import type { BaseStore, Item } from '@langchain/langgraph';

const shown = ({ namespace, key, value }: Item) => `${namespace.join('/')} ${key} ${JSON.stringify(value)}`;
const sorted = (items: Item[]) => items.map(shown).toSorted((a, b) => a.localeCompare(b));

export async function useItemStore(store: BaseStore) {
  const nothing = await store.get(['users', 'ann'], 'likes');
  await store.put(['users', 'ann'], 'likes', { food: 'pizza', stars: 3, tags: ['a'] });
  await store.put(['users', 'ann', 'old'], 'likes', { food: 'soup', stars: 1 });
  await store.put(['users', 'bob'], 'likes', { food: 'pizza', stars: 5 });
  await store.put(['userspace'], 'a/../b', { deep: { er: [null, 1, 'ä'] } });
  // A store in the process gives what it has itself, which the next put changes.
  const first = structuredClone((await store.get(['users', 'ann'], 'likes'))!);
  await store.put(['users', 'ann'], 'likes', { food: 'pasta', stars: 4 });
  const second = structuredClone((await store.get(['users', 'ann'], 'likes'))!);
  const find = async (filter: object) =>
    sorted(await store.search(['users'], { filter: filter as Record<string, unknown> }));
  const found = {
    pizza: await find({ food: 'pizza' }),
    both: await find({ food: 'pizza', stars: 5 }),
    most: await find({ stars: { $gt: 1, $lte: 4 } }),
    some: await find({ food: { $in: ['soup', 'pasta'] } }),
    others: await find({ food: { $nin: ['soup'], $ne: 'pasta' } }),
    exactly: await find({ stars: { $eq: 5 }, food: { $ne: 'x' } }),
    few: await find({ stars: { $lt: 3 } }),
    many: await find({ stars: { $gte: 4 } }),
    none: await find({ nothing: 'x' }),
  };
  const under = sorted(await store.search(['users', 'ann']));
  const all = sorted(await store.search([]));
  const pages = [
    ...(await store.search(['users'], { limit: 2 })),
    ...(await store.search(['users'], { limit: 2, offset: 2 })),
  ];
  const namespaces = {
    all: await store.listNamespaces(),
    under: await store.listNamespaces({ prefix: ['users'] }),
    any: await store.listNamespaces({ prefix: ['*', 'ann'] }),
    last: await store.listNamespaces({ suffix: ['old'] }),
    short: await store.listNamespaces({ maxDepth: 1 }),
    page: await store.listNamespaces({ limit: 1, offset: 1 }),
  };
  const batched = await store.batch([
    { namespace: ['users', 'bob'], key: 'likes' },
    { namespace: ['users', 'bob'], key: 'likes', value: { food: 'rice' } },
    { namespacePrefix: ['users', 'bob'] },
    { namespace: ['users', 'bob'], key: 'likes', value: { food: 'rice', twice: true } },
  ]);
  const [, put, within] = batched as unknown as [Item, unknown, Item[]];
  await store.delete(['users', 'ann'], 'likes');
  await store.delete(['nobody'], 'likes');
  return {
    nothing,
    first: shown(first),
    second: shown(second),
    times: [
      first.createdAt.getTime() === second.createdAt.getTime(),
      second.updatedAt.getTime() >= second.createdAt.getTime(),
    ],
    found,
    under,
    all,
    pages: sorted(pages),
    namespaces,
    batched: [put ?? null, within.length],
    bob: shown((await store.get(['users', 'bob'], 'likes'))!),
    gone: await store.get(['users', 'ann'], 'likes'),
    left: sorted(await store.search([])),
  };
}
