/** Tollgate as a process: a database with one channel, and hosts that serve it. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import simulatorHttp from '../../connectors/simulator/http-connector.ts'
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, type Gateway, localKeys, makeKey } from '../../core/index.ts'
import { freePort } from '../rig/free-port.ts'
import { type Program, startProgram } from './child.ts'
import type { Server } from './database.ts'

export type Installation = {
  readonly url: string
  readonly keys: string
  readonly entityId: string
  readonly token: string
}

/** What the merchant is called at the acquirer outside the process, and what proves it. */
export const acquirerAccount = { merchantId: 'bench', secret: 'simulator-secret' }

/**
 * A database of the engine with one channel and a token for it.
 *
 * @param acquirerUrl of an acquirer outside the process, which then serves testMode=EXTERNAL
 */
export async function install(
  server: Server,
  name: string,
  acquirerUrl?: string,
): Promise<Installation> {
  const url = await server.makeDatabase(name)
  const keys = makeKey('bench')
  await using gateway = await gatewayOf({ url, keys }, acquirerUrl)
  const { entities } = gateway
  const psp = await entities.create({ kind: 'psp', name: 'Bench' })
  const division = await entities.create({ kind: 'division', name: 'Bench', parentId: psp })
  const merchant = await newMerchant(gateway, division)
  if (acquirerUrl !== undefined) {
    await entities.createAccount({
      channelId: merchant.entityId,
      connector: 'simulator-http',
      mode: 'EXTERNAL',
      settings: acquirerAccount,
    })
  }
  return { url, keys, ...merchant }
}

type Merchant = Pick<Installation, 'entityId' | 'token'>

/** A channel and a token for it. */
async function newMerchant({ entities }: Gateway, divisionId: string): Promise<Merchant> {
  const merchant = await entities.create({ kind: 'merchant', name: 'Bench', parentId: divisionId })
  const entityId = await entities.create({ kind: 'channel', name: 'Bench', parentId: merchant })
  const { token } = await entities.createToken(entityId, 'bench')
  return { entityId, token }
}

/** The engine on the database of an installation, to set it up. */
export function gatewayOf(
  { url, keys }: Pick<Installation, 'url' | 'keys'>,
  acquirerUrl?: string,
): Promise<Gateway> {
  return createGateway({
    database: { url },
    plugins: acquirerUrl === undefined ? [simulator] : [simulator, simulatorHttp],
    ...(acquirerUrl && {
      connectors: {
        'simulator-http': { url: acquirerUrl },
        'simulator-http-3ds': { url: acquirerUrl },
      },
    }),
    environment: 'test',
    allowLoopbackForMerchants: true,
    keys: localKeys(keys),
    role: 'api',
  })
}

export const ownRoot = fileURLToPath(new URL('../../', import.meta.url))

export type HostOptions = {
  /** Tells hosts of one run apart. */
  readonly name: string
  /** A folder with another version of this project. */
  readonly root?: string | undefined
  readonly profile?: string | undefined
  readonly configFile?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Run as installed, from what was built: stripping types takes 25 MB. */
  readonly isBuilt?: boolean
}

export type Host = Program & { readonly port: number }

/** Starts `tollgate serve` and resolves once it takes requests. */
export async function startHost(
  server: Server,
  { url, keys }: Pick<Installation, 'url' | 'keys'>,
  { name, root = ownRoot, profile, configFile, settings, isBuilt }: HostOptions,
): Promise<Host> {
  const port = await freePort()
  const program = startProgram(
    join(root, 'host/bin/tollgate.js'),
    ['serve', ...(configFile === undefined ? [] : ['--config', configFile])],
    {
      DATABASE_URL: url,
      TOLLGATE_KEYS: keys,
      TOLLGATE_DATA_DIR: join(server.folder, name),
      HOST: '127.0.0.1',
      PORT: String(port),
      ...settings,
    },
    join(server.folder, `${name}.log`),
    profile,
    isBuilt ? [] : process.execArgv,
  )
  await ready(port, program.ended).catch(async (error: unknown) => {
    await program.stop()
    throw error
  })
  return { ...program, port }
}

const readyMs = 60_000

/** Resolves once the host says that it takes requests; asks every `everyMs`. */
export async function ready(port: number, ended: Promise<string>, everyMs = 50): Promise<void> {
  let why: string | undefined
  ended.then((reason) => {
    why = reason
  })
  for (const until = performance.now() + readyMs; performance.now() < until; await pause(everyMs)) {
    if (why !== undefined) throw new Error(`the host did not start: ${why}`)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.ok === true) return
  }
  throw new Error(`the host was not ready after ${readyMs / 1000} s`)
}
