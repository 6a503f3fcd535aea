/** Starts and ends the exporters of plugins. */
import type { ExporterContext, Plugin, RunningExporter } from '@tollgate/plugin-kit'

/**
 * Starts them one after the other. When one cannot start, those before it end.
 *
 * @throws its error.
 */
export async function startExporters(
  plugins: readonly Plugin[],
  context: ExporterContext,
): Promise<readonly RunningExporter[]> {
  const running: RunningExporter[] = []
  try {
    for (const exporter of plugins.flatMap(({ exporters = [] }) => exporters)) {
      running.push(await exporter.start(context))
    }
    return running
  } catch (error) {
    await closeExporters(running, context)
    throw error
  }
}

/** Ends all of them. One that fails keeps nobody from closing. */
export async function closeExporters(
  running: readonly RunningExporter[],
  { log }: Pick<ExporterContext, 'log'>,
): Promise<void> {
  for (const exporter of running.toReversed()) {
    await exporter.close().catch((error: unknown) => {
      const kind = error instanceof Error ? error.name : 'unknown'
      log.warn({ error: kind }, 'an exporter could not be closed')
    })
  }
}
