/** The address by which attempts of a shopper are counted. */
import { isPublicAddress } from '../net/address.ts'

/**
 * Undefined for private addresses, which belong to a merchant's servers and not to shoppers. For
 * IPv6, the network, since one shopper has more addresses than can be counted.
 */
export function shopperAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)
  const address = mapped?.[1] ?? text
  if (!isPublicAddress(address)) return undefined
  return address.includes(':') ? networkOf(address) : address
}

/** The first four groups of an IPv6 address, which may be shortened anywhere. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('%')[0]!.toLowerCase().split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = tail.split(':').filter((group) => group !== '')
  // An IPv4 tail replaces two groups.
  const taken = left.length + right.length + (address.includes('.') ? 1 : 0)
  const filled = [...left, ...Array<string>(Math.max(0, 8 - taken)).fill('0'), ...right]
  const groups = filled.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${groups.join(':')}::/64`
}
