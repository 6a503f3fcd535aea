/** The exporter: counts from its start to its end, and answers Prometheus. */
import type { Exporter } from '@tollgate/plugin-kit'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { countFromChannels } from './counted.ts'
import { observeState } from './observed.ts'
import { checkedOptions, type MetricsOptions } from './options.ts'
import { serveMetrics } from './server.ts'

export function metricsExporter(given: MetricsOptions): Exporter {
  const options = checkedOptions(given)
  return {
    name: 'metrics',
    async start(context) {
      const registry = new Registry()
      registry.setDefaultLabels({ engine: context.engine })
      collectDefaultMetrics({ register: registry })
      const refresh = observeState(registry, context)
      const server = await serveMetrics(options, async () => {
        await refresh()
        return { type: registry.contentType, text: await registry.metrics() }
      })
      const stop = countFromChannels(registry, context.engine, options.bucketsSeconds)
      context.log.info({ url: server.url }, 'metrics are served')
      return {
        async close() {
          stop()
          await server.close()
          registry.clear()
        },
      }
    },
  }
}
