/** The exporter: counts from its start to its end, and answers Prometheus. */
import type { Exporter } from '@tollgate/plugin-kit'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { countFromChannels } from './counted.ts'
import { observeState } from './observed.ts'
import { checkedOptions, type MetricsOptions } from './options.ts'
import { type Pages, path, serveMetrics } from './server.ts'

export function metricsExporter(given: MetricsOptions): Exporter {
  const options = checkedOptions(given)
  // Several engines of one process share the port. Each has its own page: `/metrics/<name of the engine>`.
  const pages: Pages = new Map()
  let serving: ReturnType<typeof serveMetrics> | undefined
  return {
    name: 'metrics',
    async start(context) {
      const registry = new Registry()
      registry.setDefaultLabels({ engine: context.engine })
      collectDefaultMetrics({ register: registry })
      const refresh = observeState(registry, context)
      const own = `${path}/${encodeURIComponent(context.engine)}`
      pages.set(own, async () => {
        await refresh()
        return { type: registry.contentType, text: await registry.metrics() }
      })
      serving ??= serveMetrics(options, pages)
      const server = await serving.catch((error: unknown) => {
        pages.delete(own)
        serving = undefined
        throw error
      })
      const stop = countFromChannels(registry, context.engine, options.bucketsSeconds)
      const url =
        pages.size === 1 ? server.url : `${server.url}/${encodeURIComponent(context.engine)}`
      context.log.info({ url }, 'metrics are served')
      return {
        async close() {
          stop()
          pages.delete(own)
          if (pages.size === 0) {
            serving = undefined
            await server.close()
          }
          registry.clear()
        },
      }
    },
  }
}
