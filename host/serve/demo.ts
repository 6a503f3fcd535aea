import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Gateway } from '@tollgate/core'
import { systemCode } from '../thrown.ts'
import { writePrivateFile } from './private-file.ts'

/**
 * Ids of the demo merchant. Fixed, so that processes that start together create the same entities.
 */
const demoIds = {
  psp: 'de300000000000000000000000000001',
  division: 'de300000000000000000000000000002',
  merchant: 'de300000000000000000000000000003',
  channel: 'de300000000000000000000000000004',
} as const

/** The merchant above the demo channel; some reports need a token of it. */
export const demoMerchantId = demoIds.merchant

export type Credentials = {
  readonly baseUrl: string
  readonly entityId: string
  readonly accessToken: string
}

/** `refusal`: the system's code where the file could not be written. */
export type CredentialsFile = { readonly path: string; readonly refusal: string | null }

export const credentialsPath = (directory: string) => join(directory, 'test-credentials.json')

/**
 * A demo PSP, division, merchant and channel, and a token of the channel. Made at the first start;
 * later ones take the token from test-credentials.json while it is valid, else make another.
 */
export async function openDemo(
  gateway: Gateway,
  directory: string,
): Promise<Omit<Credentials, 'baseUrl'>> {
  const { entities } = gateway
  const { psp, division, merchant, channel } = demoIds
  if ((await entities.get(channel)) === undefined) {
    await entities.create({ kind: 'psp', name: 'Demo', id: psp })
    await entities.create({ kind: 'division', name: 'Demo', id: division, parentId: psp })
    await entities.create({ kind: 'merchant', name: 'Demo', id: merchant, parentId: division })
    await entities.create({
      ...{ kind: 'channel', name: 'Demo', id: channel, parentId: merchant },
      settings: { threeDSecure: 'on' },
    })
  }
  // A new token is cheap.
  const { accessToken: kept } = await readCredentials(directory)
  if (kept !== undefined && (await isTokenOf(gateway, kept, channel))) {
    return { entityId: channel, accessToken: kept }
  }
  const { token } = await entities.createToken(channel, 'demo')
  return { entityId: channel, accessToken: token }
}

/**
 * Writes what a client needs, readable by the owner alone. The file of another gateway that still answers
 * stays, and these credentials go into a file named after their port.
 * A read-only file system stops no demo.
 */
export async function writeCredentials(
  directory: string,
  credentials: Credentials,
): Promise<CredentialsFile> {
  const { baseUrl: other } = await readCredentials(directory)
  const isTaken = other !== undefined && other !== credentials.baseUrl && (await responds(other))
  const path = isTaken
    ? join(directory, `test-credentials-${new URL(credentials.baseUrl).port}.json`)
    : credentialsPath(directory)
  try {
    await writePrivateFile(path, `${JSON.stringify(credentials, undefined, 2)}\n`)
    return { path, refusal: null }
  } catch (thrown) {
    const refusal = systemCode(thrown)
    if (refusal === null) throw thrown
    return { path, refusal }
  }
}

/** The stored credentials; empty when the file is missing or damaged. */
export async function readCredentials(directory: string): Promise<Partial<Credentials>> {
  try {
    const read: Record<string, unknown> = Object(
      JSON.parse(await readFile(credentialsPath(directory), 'utf8')),
    )
    return Object.fromEntries(Object.entries(read).filter(([, value]) => typeof value === 'string'))
  } catch {
    return {}
  }
}

const respondsWithinMs = 1_000

async function responds(baseUrl: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(respondsWithinMs)
    return (await fetch(`${baseUrl}/healthz`, { signal, redirect: 'manual' })).ok
  } catch {
    return false
  }
}

async function isTokenOf(gateway: Gateway, token: string, entityId: string): Promise<boolean> {
  try {
    return (await gateway.authenticate(`Bearer ${token}`)).entityId === entityId
  } catch {
    return false
  }
}

/** A debit of 92 euro with a VISA test card, ready to paste into a shell. */
export function demoCommand({ baseUrl, entityId, accessToken }: Credentials): string {
  return [
    `curl ${baseUrl}/v1/payments`,
    `-H "Authorization: Bearer ${accessToken}"`,
    `-d entityId=${entityId}`,
    '-d amount=92.00',
    '-d currency=EUR',
    '-d paymentBrand=VISA',
    '-d paymentType=DB',
    '-d card.number=4200000000000000',
    '-d "card.holder=Jane Jones"',
    '-d card.expiryMonth=05',
    '-d card.expiryYear=2034',
    '-d card.cvv=123',
  ].join(' \\\n    ')
}
