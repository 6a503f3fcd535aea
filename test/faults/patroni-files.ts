/** The files of `deploy/high-availability`, with the addresses and folders of a cluster on this machine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** What an acknowledged commit needs: two servers, two servers always, or one. */
export type PatroniMode = 'synchronous' | 'strict' | 'asynchronous'

/** `keeps`: haproxy leaves connections to a former leader open. */
export type ProxyHabit = 'closes' | 'keeps'

export type PatroniNode = {
  readonly name: string
  readonly port: number
  readonly rest: number
}

const folder = join(import.meta.dirname, '../../deploy/high-availability')
const example = (file: string) => readFileSync(join(folder, file), 'utf8')

type Patroni = {
  readonly restapi: Readonly<Record<string, unknown>>
  readonly bootstrap: { readonly dcs: { readonly ttl: number } }
  readonly postgresql: Readonly<Record<string, unknown>>
  readonly watchdog: Readonly<Record<string, unknown>>
}

const patroniExample = parse(example('patroni.yaml')) as Patroni

/** Seconds that a leader's lock lives. */
export const lockSeconds = patroniExample.bootstrap.dcs.ttl

/** @param own The node's folder. */
export function patroniFile(
  { name, port, rest }: PatroniNode,
  { own, etcd, bin, mode }: { own: string; etcd: number; bin: string; mode: PatroniMode },
): string {
  const { restapi, bootstrap, postgresql, watchdog, ...others } = patroniExample
  const address = (of: number) => ({
    listen: `127.0.0.1:${of}`,
    connect_address: `127.0.0.1:${of}`,
  })
  // Patroni reads YAML, of which JSON is a part.
  return JSON.stringify({
    ...others,
    name,
    restapi: { ...restapi, ...address(rest), allowlist: ['127.0.0.1'] },
    etcd: { hosts: `127.0.0.1:${etcd}` },
    bootstrap: {
      ...bootstrap,
      dcs: {
        ...bootstrap.dcs,
        synchronous_mode: mode !== 'asynchronous',
        synchronous_mode_strict: mode === 'strict',
        // With the limit of the example, no standby that is two seconds behind would be promoted.
        ...(mode === 'asynchronous' ? { maximum_lag_on_failover: 64 * 1024 * 1024 } : {}),
      },
    },
    postgresql: {
      ...postgresql,
      ...address(port),
      data_dir: join(own, 'data'),
      bin_dir: bin,
      pgpass: join(own, 'pgpass'),
      parameters: { unix_socket_directories: own },
    },
    watchdog: { ...watchdog, mode: 'off' },
  })
}

/** All passwords of the example. */
export const examplePassword = 'change-me'

/** Patroni changes nothing for strangers. */
export const ofOperators = {
  authorization: `Basic ${Buffer.from(`patroni:${examplePassword}`).toString('base64')}`,
}

export function haproxyFile(
  port: number,
  nodes: readonly PatroniNode[],
  habit: ProxyHabit,
): string {
  let file = replaced(
    example('haproxy.cfg'),
    /^ +bind 127\.0\.0\.1:\d+$/m,
    `    bind 127.0.0.1:${port}`,
  )
  for (const { name, port: own, rest } of nodes) {
    file = replaced(
      file,
      new RegExp(`^ +server ${name} \\S+ (.*) check port \\d+$`, 'm'),
      `    server ${name} 127.0.0.1:${own} $1 check port ${rest}`,
    )
  }
  return habit === 'closes' ? file : replaced(file, / on-marked-down shutdown-sessions/, '')
}

function replaced(text: string, what: RegExp, by: string): string {
  if (!what.test(text)) throw new Error(`haproxy.cfg has no ${what}`)
  return text.replace(what, by)
}
