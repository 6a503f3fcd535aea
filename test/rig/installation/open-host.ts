/** A host of the installation, in any process. */
import type { Json } from '@tollgate/plugin-kit'
import { createGateway, localKeys, type Role } from '../../../core/index.ts'
import { createHost } from '../../../host/index.ts'
import { testKey } from '../gateway.ts'
import acquirer, { connectorsAt } from './acquirer-plugin.ts'
import { merchantEntityId, publicUrl, strangerEntityId } from './installation.ts'

export type HostOrder = {
  readonly name: string
  readonly databaseUrl: string
  readonly acquirerUrl: string
  readonly role: Role
  readonly connectorTimeoutMs: number
}

export type OpenHost = {
  /** Base URL; null for a worker, which does not listen. */
  readonly url: string | null
  readonly token: string
  /** Token of another merchant of the same installation. */
  readonly strangerToken: string
  close(): Promise<void>
}

export async function openHost(
  { name, databaseUrl, acquirerUrl, role, connectorTimeoutMs }: HostOrder,
  {
    shutdownGraceMs,
    warn,
  }: {
    readonly shutdownGraceMs: number
    warn(fields: Readonly<Record<string, Json>>, message: string): void
  },
): Promise<OpenHost> {
  const gateway = await createGateway({
    name,
    database: { url: databaseUrl },
    plugins: [acquirer],
    connectors: connectorsAt(acquirerUrl),
    publicUrl,
    environment: 'test',
    allowLoopbackForMerchants: true,
    keys: localKeys(testKey),
    role,
    migrate: false,
    connectorTimeoutMs,
    shutdownGraceMs,
    log: { info() {}, warn },
  })
  const { token } = await gateway.entities.createToken(merchantEntityId, name)
  const stranger = await gateway.entities.createToken(strangerEntityId, name)
  const host = createHost(gateway, { port: 0, shutdownGraceMs })
  const listening = role === 'worker' ? undefined : await host.listen()
  return {
    url: listening?.url ?? null,
    token,
    strangerToken: stranger.token,
    async close() {
      await listening?.close()
      await gateway.close()
    },
  }
}
