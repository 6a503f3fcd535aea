/** The SDK of OpenTelemetry with an exporter, for programs that have none. Registers nothing globally. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { ExporterContext } from '@tollgate/plugin-kit'
import type { Options } from './options.ts'

/** How long a close waits for the collector. */
const closeMs = 5_000

export function openSdk(
  { url, serviceName, ratio }: Options,
  { engine, environment, role, version }: ExporterContext,
): TracerProvider {
  const exporter = new OTLPTraceExporter({
    timeoutMillis: closeMs,
    ...(url === undefined ? {} : { url: withPath(url) }),
  })
  return new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName ?? engine,
      'service.version': version,
      'deployment.environment.name': environment,
      'tollgate.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        // Full, it drops spans: payments never wait for traces.
        maxQueueSize: 8_192,
        maxExportBatchSize: 1_024,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: closeMs,
      }),
    ],
  })
}

/** The path at which collectors take traces, unless the address has another one. */
function withPath(url: string): string {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/v1/traces'
  return address.href
}
