/** For whoever starts agents and answers them; loads neither a worker nor a framework. */
export { FileStore } from '../blobs/file-store.ts';
export { type BlobsSetting, openBlobs } from '../blobs/open-blobs.ts';
export { collectBlobs, type Collected, type CollectOptions } from '../blobs/collect-garbage.ts';
export { BlobsPlugin } from './blobs-plugin.ts';
export { fork, type ForkOptions, resume, type ResumeOptions } from './resume-and-fork.ts';
export { decisionsOf, type IdentifiedDecision, sendDecision } from './decisions.ts';
export {
  answer,
  type AnswerInput,
  approve,
  type ApproveInput,
  decide,
  type DecideInput,
  type DecisionReceipt,
  decisions,
  message,
  type Message,
  type MessageInput,
  messageUpdate,
  type TakenDecision,
  usage,
  type PendingApproval,
  type PendingQuestion,
  records,
  type RefusalCode,
  type RefusedSignal,
  reject,
  type RejectInput,
  report,
  waiting,
  type Waiting,
} from '../protocol/signals.ts';
export type { ReportPage, ReportStep, RunReport } from '../protocol/report.ts';
