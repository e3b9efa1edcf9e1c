/** For whoever starts agents and answers them; loads neither a worker nor a framework. */
export { FileStore } from '../blobs/file-store.ts';
export { type BlobsSetting, openBlobs } from '../blobs/open-blobs.ts';
export { collectBlobs, type Collected, type CollectOptions } from '../blobs/collect-garbage.ts';
export { BlobsPlugin } from './blobs-plugin.ts';
export { fork, type ForkOptions, resume, type ResumeOptions } from './resume-and-fork.ts';
export {
  answer,
  type AnswerInput,
  approve,
  type ApproveInput,
  type PendingApproval,
  type PendingQuestion,
  records,
  type RefusedSignal,
  reject,
  type RejectInput,
  waiting,
  type Waiting,
} from '../protocol/signals.ts';
