import { contractVersion, definePlugin, type Plugin } from '@tollgate/plugin-kit'
import { metricsExporter } from './exporter.ts'
import type { MetricsOptions } from './options.ts'

export type { MetricsOptions } from './options.ts'
export { MetricsOptionsError } from './options.ts'

/**
 * Prometheus metrics at `http://127.0.0.1:9464/metrics`, or where the options say.
 *
 * @throws MetricsOptionsError
 */
export function metrics(options: MetricsOptions = {}): Plugin {
  return definePlugin({
    name: 'metrics',
    contract: contractVersion,
    exporters: [metricsExporter(options)],
  })
}

export default metrics()
