/** Errors only, from the SDK and from its core, which warns of each slow task of an overloaded machine. */
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

export function quietRuntime(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
}
