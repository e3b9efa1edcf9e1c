import type { ClientOptions, ClientPlugin } from '@temporalio/client';
import { type BlobsSetting, openBlobs } from '../blobs/open-blobs.ts';
import { withBlobCodec } from '../blobs/blob-codec.ts';

/**
 * Lets a client send and read what is kept in a blob store: `new Client({ connection, plugins: [new BlobsPlugin({ blobs })] })`.
 * Without it, a client fails on a result of more than 1 MiB with "Unknown encoding: json/temporal-agents-blob", and can
 * send no input above 2 MiB.
 */
export class BlobsPlugin implements ClientPlugin {
  readonly name = 'temporal-agents.blobs';
  readonly #blobs: BlobsSetting;

  /** @param options.blobs the store of the workers, or its URL */
  constructor({ blobs }: { blobs: BlobsSetting }) {
    this.#blobs = blobs;
  }

  configureClient(options: Omit<ClientOptions, 'plugins'>): Omit<ClientOptions, 'plugins'> {
    return withBlobCodec(options, openBlobs(this.#blobs));
  }
}
