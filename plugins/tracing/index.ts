import { contractVersion, definePlugin, type Plugin } from '@tollgate/plugin-kit'
import { tracingExporter } from './exporter.ts'
import type { TracingOptions } from './options.ts'

export type { TracingOptions } from './options.ts'
export { TracingOptionsError } from './options.ts'

/**
 * OpenTelemetry traces, sent by OTLP over HTTP to a collector, or made with the program's own SDK.
 *
 * @throws TracingOptionsError
 */
export function tracing(options: TracingOptions = {}): Plugin {
  return definePlugin({
    name: 'tracing',
    contract: contractVersion,
    exporters: [tracingExporter(options)],
  })
}

export default tracing()
