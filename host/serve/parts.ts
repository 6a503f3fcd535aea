import type { Installation } from './installation.ts'

/** Plugins, connectors, and how many accounts each connector has in which mode, for the start. */
export async function partsOf({
  gateway: { accounts },
  plugins,
}: Pick<Installation, 'gateway' | 'plugins'>): Promise<string[][]> {
  const counts = await accounts.counts()
  const rows = accounts.connectors().map(({ name, modes }) => {
    const own = counts.filter(({ connector }) => connector === name)
    const words = own.flatMap(({ mode, enabled, disabled }) => [
      ...(enabled === 0 ? [] : [`${counted(enabled)} ${mode}`]),
      ...(disabled === 0 ? [] : [`${counted(disabled)} ${mode} disabled`]),
    ])
    if (modes.includes('INTERNAL')) words.unshift('testMode=INTERNAL')
    return ['Connector', name, words.length === 0 ? 'no accounts' : words.join(', ')]
  })
  const missing = counts.filter(({ connector }) =>
    accounts.connectors().every(({ name }) => name !== connector),
  )
  return [
    ['Plugins', plugins.map(({ name }) => name).join(', ') || 'none', ''],
    ...rows,
    ...missing.map(({ connector, mode, enabled, disabled }) => [
      'Connector',
      connector,
      `not installed, but has ${counted(enabled + disabled)} ${mode}`,
    ]),
  ]
}

const counted = (count: number) => `${count} ${count === 1 ? 'account' : 'accounts'}`
