import { isIPv6 } from 'node:net'

/** What connections are counted by: the IPv4 address, or the first 64 bits of IPv6, all of which one person has. */
export function networkOf(address: string): string {
  const plain = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address.split('%', 1)[0]!
  if (!isIPv6(plain)) return plain
  const [head = '', tail = ''] = plain.toLowerCase().split('::')
  const [left, right] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''))
  // The last two groups may be written as an IPv4 address.
  const written = left!.length + right!.length + (plain.includes('.') ? 1 : 0)
  const all = [...left!, ...Array<string>(Math.max(0, 8 - written)).fill('0'), ...right!]
  const first = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${first.join(':')}::/64`
}
