/** The environment of scenarios: hosts, clients, and memory of processes. */
import { type Child, startChild } from '../child.ts'
import type { Server } from '../database.ts'
import {
  type Host,
  type HostOptions,
  type Installation,
  install,
  startHost,
} from '../installation.ts'
import { residentBytes } from '../processor-time.ts'
import type { StreamReport, TrafficOrder } from './traffic.ts'

export type Ground = {
  readonly server: Server
  /** Ends with the scenario, or with an interrupted benchmark. */
  readonly stop: AsyncDisposableStack
  /** Seconds instead of minutes: shows that the scenario works, and measures nothing. */
  readonly isSmall: boolean
  /** Part of the full size, for scenarios whose size can be chosen. */
  readonly part: number
}

export type Scenario = {
  readonly name: string
  readonly title: string
  readonly run: (ground: Ground) => Promise<void>
}

/** A host with the data its clients need. */
export type Target = Host & Installation

/** A database that is removed with the scenario. */
export async function newInstallation(
  { server, stop }: Ground,
  name: string,
  acquirerUrl?: string,
): Promise<Installation> {
  stop.defer(() => server.dropDatabase(name))
  return install(server, name, acquirerUrl)
}

export async function newHost(
  { server, stop }: Ground,
  installation: Installation,
  options: HostOptions,
): Promise<Target> {
  const host = await startHost(server, installation, options)
  stop.defer(host.stop)
  return { ...installation, ...host }
}

/** A host on a database of its own. */
export async function newTarget(ground: Ground, name: string): Promise<Target> {
  return newHost(ground, await newInstallation(ground, name), { name })
}

export type Traffic = (order: TrafficOrder) => Promise<Readonly<Record<string, StreamReport>>>

/** A process of clients, whose reports have the streams' names. */
export async function newTraffic({ stop }: Ground): Promise<Traffic> {
  const child: Child = await startChild(new URL('traffic.ts', import.meta.url), {})
  stop.defer(child.stop)
  return async (order) => {
    const reports = (await child.ask(order)) as StreamReport[]
    return Object.fromEntries(reports.map((report) => [report.name, report]))
  }
}

/** Fails unless every request of a stream was answered with HTTP 200. */
export function assertAllApproved({ name, sent, approved, answers }: StreamReport): void {
  if (sent > 0 && sent === approved) return
  throw new Error(`${name}: ${approved} of ${sent} were approved: ${JSON.stringify(answers)}`)
}

/** Sends one payment, or a follow-up on `about`, and resolves with its id. */
export async function pay(
  { port, token, entityId }: Target,
  fields: Readonly<Record<string, string>>,
  about?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = about === undefined ? '/v1/payments' : `/v1/payments/${about}`
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: new URLSearchParams({ entityId, ...fields }),
  })
  const answer = (await response.json()) as { id?: string }
  if (response.status !== 200 || answer.id === undefined) {
    throw new Error(`a payment was answered with ${response.status}: ${JSON.stringify(answer)}`)
  }
  return answer.id
}

/** The peak memory of a process during `work` in megabytes, or NaN where it is unknown. */
export async function peakMegabytes<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ value: T; megabytes: number }> {
  let bytes = residentBytes(pid)
  const timer = setInterval(() => {
    bytes = Math.max(bytes, residentBytes(pid))
  }, 100)
  try {
    return { value: await work(), megabytes: bytes / 2 ** 20 }
  } finally {
    clearInterval(timer)
  }
}
