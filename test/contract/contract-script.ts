/**
 * What the model says to the contract's agents. Every answer follows from the request alone, so that it is the same
 * however often a run dies. Who is asked shows in the instructions, which case it is in the first user message.
 */
import type { ProviderAnswer, ProviderRequest } from '../../src/testing/index.ts';

const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 20, reasoningTokens: 3 };

/** The case a request belongs to: `case:before-3`. */
function caseOf({ messages }: Pick<ProviderRequest, 'messages'>): string {
  for (const { text, toolCalls } of messages) {
    const found = /case:(\S+?)(?=["\s]|$)/.exec(
      `${text} ${toolCalls.map((call) => JSON.stringify(call.arguments)).join(' ')}`,
    );
    if (found) return found[1]!;
  }
  return 'none';
}

export function contractScript(request: ProviderRequest): ProviderAnswer | undefined {
  const { instructions, messages, attempt } = request;
  const id = caseOf(request);
  const done = messages.flatMap(({ toolResults }) => toolResults.map(({ name, text }) => ({ name, text })));
  const has = (name: string) => done.some((result) => result.name === name);
  const call = (...calls: [string, Record<string, unknown>][]): ProviderAnswer => ({
    toolCalls: calls.map(([name, args]) => ({ name, arguments: args })),
    usage,
  });
  const say = (text: string): ProviderAnswer => ({ text, usage });
  const look = (what: string) =>
    ['lookup', { what: `${what} case:${id}` }] as [string, Record<string, unknown>];

  /** Gives a task to an agent that is a tool of its own, or to a sub-agent that one tool gives all tasks to. */
  const delegate = (agent: string, what: string) =>
    request.tools.includes('task')
      ? call(['task', { description: what, subagent_type: agent }])
      : call([`ask_${agent}`, { input: what }]);
  const asked = (agent: string) => has('task') || has(`ask_${agent}`);

  if (instructions.includes('TRIAGE')) {
    if (!has('lookup')) return call(look('a'), look('b'), ['own_lookup', { what: `c case:${id}` }]);
    if (!asked('expert')) return delegate('expert', `why? case:${id}`);
    return call(['transfer_to_Writer', {}]);
  }
  if (instructions.includes('EXPERT'))
    return has('lookup') ? say(`the expert of case:${id}`) : call(look('expert'));
  if (instructions.includes('WRITER')) {
    return done.some(({ text }) => text.includes('found w'))
      ? say(`written for case:${id}`)
      : call(look('w'));
  }
  if (instructions.includes('BREAKER')) {
    return has('broken') ? say(`told: ${done.at(-1)!.text}`) : call(['broken', { what: `case:${id}` }]);
  }
  if (instructions.includes('FLAKY')) {
    if (attempt === 1)
      return { status: 503, headers: { 'retry-after-ms': '20' }, errorBody: { error: { message: 'later' } } };
    return say('came at last');
  }
  if (instructions.includes('REFUSED')) {
    return {
      status: 400,
      errorBody: { error: { message: 'no such thing', code: 'bad_thing', type: 'invalid_request_error' } },
    };
  }
  if (instructions.includes('HANGING')) return { hang: true };
  if (instructions.includes('CLERK')) {
    return has('peek')
      ? say(`clerk of case:${id}`)
      : call(['peek', { what: `p case:${id}` }], ['charge', { what: `c case:${id}` }]);
  }
  if (instructions.includes('KEEPER')) {
    // Says all that was ever said to it; looks once for each.
    const said = messages.flatMap(({ role, text }) =>
      role === 'user' ? [text.replace(/case:\S+ /, '')] : [],
    );
    if (done.length < said.length) return call(look(said.at(-1)!));
    return say(`heard: ${said.join()}`);
  }
  if (instructions.includes('HEARER')) {
    const said = messages.flatMap(({ role, text }) =>
      role === 'user' ? [text.replace(/case:\S+/, 'it')] : [],
    );
    // While it says the first thing, somebody sends a message.
    return { ...say(`heard: ${said.join()}`), delayMs: said.length === 1 ? 500 : 0 };
  }
  if (instructions.includes('SHOPPER')) {
    if (!has('find')) return call(['find', { what: `f case:${id}` }], ['order', { what: `o case:${id}` }]);
    return has('broken') ? say(`bought: ${done[1]!.text}`) : call(['broken', { what: `b case:${id}` }]);
  }
  if (instructions.includes('SPEAKER')) {
    if (!has('lookup')) return call(look('a'));
    return asked('bursar') ? say(`said: ${done.at(-1)!.text}`) : delegate('bursar', `case:${id}`);
  }
  if (instructions.includes('BURSAR'))
    return has('own_refund') ? say(`settled case:${id}`) : call(['own_refund', { what: `o case:${id}` }]);
  if (instructions.includes('FORECASTER')) return say('{"city":"Paris","degrees":21}');
  if (instructions.includes('ASKER'))
    return done.length > 0
      ? say(done.map(({ text }) => text).join())
      : call(
          ...['first?', 'second?', 'third?'].map((prompt): [string, Record<string, unknown>] => [
            'ask_person',
            { prompt },
          ]),
        );
  if (instructions.includes('TWIN'))
    return done.length > 0 ? say(`heard ${done[0]!.text}`) : call(look(`twin${attempt}`));
  if (instructions.includes('EXTRA')) return say(`extra for case:${id}`);
  if (instructions.includes('CLOSER')) {
    return has('refund') ? say(`closed case:${id}`) : call(['refund', { what: `r case:${id}` }]);
  }
  if (instructions.includes('CASHIER')) {
    const [refund, own] = [has('refund'), has('own_refund')];
    if (!refund && !own)
      return call(
        look('account'),
        ['refund', { what: `r case:${id}` }],
        ['own_refund', { what: `o case:${id}` }],
      );
    return say(`settled: ${done.map(({ name, text }) => `${name}=${text}`).join('; ')}`);
  }
  return undefined;
}
