/** Signals whose payload nobody may be able to read: the SDK would fail the task, and each one after it, for ever. */
import { defaultPayloadConverter, type RawValue, rawValueTypeInfo } from '@temporalio/common';
import * as wf from '@temporalio/workflow';
import { Unreadable } from '../src/records/refusals.ts';

/** Handles a signal with its payload, or with why that cannot be read. */
export function handleSignal(name: string, handler: (payload: unknown) => void): void {
  const raw = wf.defineSignal<[RawValue?]>(name, { typeInfo: { inputTypes: [rawValueTypeInfo] } });
  wf.setHandler(raw, (value) => handler(value && read(value)));
}

function read(value: RawValue): unknown {
  try {
    return defaultPayloadConverter.fromPayload(value.payload);
  } catch (error) {
    return new Unreadable(error instanceof Error ? error.message : String(error));
  }
}
