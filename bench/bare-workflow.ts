import { proxyActivities } from '@temporalio/workflow';

type Activity = (i: number) => Promise<string>;
const { turn, lookup } = proxyActivities<{ turn: Activity; lookup: Activity }>({ startToCloseTimeout: '5m' });

/** The limit: the same activities, with nothing between them and Temporal. */
export async function bare(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) {
    await turn(i);
    if (i < turns - 1) await lookup(i);
  }
}
