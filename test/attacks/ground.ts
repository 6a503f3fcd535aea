/**
 * The environment of every attack: a database with two merchants, their tokens, and hosts in front.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../core/index.ts'
import { tokenRights } from '../../schemas/index.ts'
import { clusterVariable, scratchFolder, startTestCluster } from '../rig/cluster.ts'
import { createDatabase } from '../rig/database.ts'
import { testKey } from '../rig/gateway.ts'
import { type Host, startHost } from './host.ts'

const id = (last: number) => `a7${String(last).padStart(30, '0')}`

/** The merchant of the attacker's tokens. The other merchant must remain unaffected. */
export const own = { merchant: id(3), channel: id(4) } as const
export const foreign = { merchant: id(5), channel: id(6) } as const

export type Ground = {
  readonly databaseUrl: string
  /** The folder for files of this run, removed at the end. */
  readonly folder: string
  /** Tokens of the attacker's channel: the first ones are valid, `revoked` was revoked. */
  readonly tokens: readonly string[]
  readonly revoked: string
  /** Tokens of the attacker's channel that each lack one right. */
  readonly without: ReadonlyMap<string, string>
  /** Of the other merchant's channel. */
  readonly foreignToken: string
  /** The host with its usual settings; it is started once. */
  host(): Promise<Host>
  /** Starts another host on the same database, which the caller closes. */
  another(settings: Readonly<Record<string, string>>, folder?: string): Promise<Host>
  sql<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>
  close(): Promise<void>
}

export const tokenCount = 200

export async function layGround(): Promise<Ground> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    if (process.env[clusterVariable] === undefined) {
      const cluster = await startTestCluster()
      ends.push(() => cluster.stop())
      process.env[clusterVariable] = cluster.url
      ends.push(async () => void delete process.env[clusterVariable])
    }
    const database = await createDatabase()
    ends.push(() => database.drop())
    const folder = mkdtempSync(join(scratchFolder(), 'tollgate-attacks-'))
    ends.push(async () => rmSync(folder, { recursive: true, force: true }))
    const { tokens, revoked, without, foreignToken } = await settle(database.url)
    const pool = new pg.Pool({ connectionString: database.url, max: 2 })
    ends.push(() => pool.end())
    let main: Promise<Host> | undefined
    const settings = {
      DATABASE_URL: database.url,
      TOLLGATE_KEYS: testKey,
      TOLLGATE_DATA_DIR: folder,
      TOLLGATE_MIGRATE: 'false',
      // The attacker can cause lost answers at the simulator; without a short time-out each would
      // take half a minute.
      TOLLGATE_CONNECTOR_TIMEOUT_MS: '2000',
    }
    return {
      databaseUrl: database.url,
      folder,
      tokens,
      revoked,
      without,
      foreignToken,
      host() {
        main ??= startHost(folder, settings).then((host) => {
          ends.push(() => host.close())
          return host
        })
        return main
      },
      another: (more, at = folder) => startHost(at, { ...settings, ...more }),
      sql: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await pool.query(text, [...values])).rows as Row[],
      close,
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

/** Makes the tables, the merchants and their tokens. */
async function settle(url: string) {
  const gateway = await createGateway({
    database: { url },
    plugins: [simulator],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
  })
  try {
    const { entities } = gateway
    const name = 'Attacks'
    await entities.create({ kind: 'psp', name, id: id(1) })
    await entities.create({ kind: 'division', name, id: id(2), parentId: id(1) })
    for (const { merchant, channel } of [own, foreign]) {
      await entities.create({ kind: 'merchant', name, id: merchant, parentId: id(2) })
      await entities.create({ kind: 'channel', name, id: channel, parentId: merchant })
    }
    const tokens: string[] = []
    for (let no = 0; no < tokenCount; no += 1) {
      // Tokens of the merchant and of its channel alternate, so that both levels are tried.
      const node = no % 2 === 0 ? own.channel : own.merchant
      tokens.push((await entities.createToken(node, `attacker ${no}`)).token)
    }
    const gone = await entities.createToken(own.channel, 'revoked')
    await entities.revokeToken(gone.id)
    const { token: foreignToken } = await entities.createToken(foreign.channel, 'other')
    const without = new Map<string, string>()
    for (const left of ['charge', 'refund', 'payout'] as const) {
      const rights = tokenRights.filter((right) => right !== left)
      const { token } = await entities.createToken(own.channel, `without ${left}`, { rights })
      without.set(left, token)
    }
    return { tokens, revoked: gone.token, without, foreignToken }
  } finally {
    await gateway.close()
  }
}
