/** Addresses for protocols whose connections a plugin opens. */
import { lookup as resolveName } from 'node:dns/promises'
import { isIP } from 'node:net'
import { TransferError } from '@tollgate/plugin-kit'
import type { AddressRules } from './address.ts'

/**
 * Resolves a name once and checks every address, as for HTTP. All connections of these protocols are
 * encrypted, so the rules for https apply.
 *
 * @throws TransferError `refused-address` or `unreachable`.
 */
export async function checkedAddress(
  rules: AddressRules,
  host: string,
  port: number,
  resolve: typeof resolveName = resolveName,
): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host]
  const [first] = addresses
  if (first === undefined || !addresses.every((one) => rules.permits(one, 'https:', port))) {
    throw new TransferError('refused-address', `${host} does not lead to a public address`)
  }
  return first
}

async function resolved(host: string, resolve: typeof resolveName): Promise<string[]> {
  try {
    const found = await resolve(host, { all: true })
    return found.map(({ address }) => address)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const why = /^[A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : ''
    throw new TransferError('unreachable', `the name ${host} cannot be resolved${why}`)
  }
}
