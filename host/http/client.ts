import { isIPv6 } from 'node:net'

/**
 * The identity of a client without a token: its IPv4 address or its IPv6 network, since one client
 * can use every address of the same 64 bits.
 */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return ''
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIPv6(address) ? networkOf(address) : address
}

function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1)
  const [head = '', tail] = plain.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  // An address that ends in one of IPv4 writes its last two groups as one.
  const last = after.at(-1) ?? groups.at(-1) ?? ''
  const all = last.includes('.') ? 7 : 8
  if (tail !== undefined) {
    groups.push(
      ...Array<string>(Math.max(0, all - groups.length - after.length)).fill('0'),
      ...after,
    )
  }
  const first = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
  return `${first.join(':')}::/64`
}
