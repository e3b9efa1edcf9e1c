/** Tools of this package for the contract's agents, the same with every framework. */
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import { note } from '../kit/effects.ts';

export const parameters = z.object({ what: z.string() });

export const lookup = tool({
  name: 'lookup',
  description: 'Looks something up.',
  parameters,
  execute: async ({ what }) => {
    note(`lookup ${what}`);
    return `found ${what}`;
  },
});
export const broken = tool({
  name: 'broken',
  description: 'Breaks.',
  parameters,
  retries: { maximumAttempts: 3, initialInterval: 10 },
  execute: async ({ what }) => {
    note(`broken ${what}`);
    throw new Error('it broke');
  },
});
export const refund = tool({
  name: 'refund',
  description: 'Refunds.',
  parameters,
  requiresApproval: { prompt: ({ what }) => `Refund ${what}?`, allowEdit: true },
  execute: async ({ what }) => {
    note(`refund ${what}`);
    return 'refunded';
  },
});
/** What a deploy changed in the agent `changing`. */
export const change = process.env['CHANGE'];
export const peek = tool({
  name: 'peek',
  description: change === 'description' ? 'Looks at the account closely.' : 'Looks at the account.',
  parameters,
  readOnly: true,
  execute: async ({ what }) => {
    note(`peek ${what}`);
    return 'seen';
  },
});
export const charge = tool({
  name: 'charge',
  description: 'Charges.',
  parameters,
  execute: async ({ what }) => {
    note(`charge ${what}`);
    return 'charged';
  },
});
