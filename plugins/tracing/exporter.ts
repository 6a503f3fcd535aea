/** The exporter: makes spans from its start to its end. */
import { type Tracer, trace } from '@opentelemetry/api'
import type { Exporter, ExporterContext } from '@tollgate/plugin-kit'
import { checkedOptions, type Options, type TracingOptions } from './options.ts'
import { spansFromChannels } from './spans.ts'

type Source = { readonly tracer: Tracer; close(): Promise<void> }

export function tracingExporter(given: TracingOptions): Exporter {
  const options = checkedOptions(given)
  return {
    name: 'tracing',
    async start(context) {
      const { tracer, close } = await sourceOf(options, context)
      const stop = spansFromChannels(tracer, context.engine, options)
      return {
        async close() {
          stop()
          await close()
        },
      }
    },
  }
}

async function sourceOf(options: Options, context: ExporterContext): Promise<Source> {
  const { version } = context
  if (options.sdk === 'global') {
    return { tracer: trace.getTracer('tollgate', version), async close() {} }
  }
  // A program with an SDK of its own needs none of this.
  const { openSdk } = await import('./sdk.ts')
  const provider = openSdk(options, context)
  return {
    tracer: provider.getTracer('tollgate', version),
    async close() {
      // The collector may be away, and what it did not take is lost.
      await provider.shutdown().catch((error: unknown) => {
        const kind = error instanceof Error ? error.name : 'unknown'
        context.log.warn({ error: kind }, 'the last traces could not be sent')
      })
    },
  }
}
