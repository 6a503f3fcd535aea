import { BlockList, isIP } from 'node:net'

/** IPv4 that is not the public internet: the special-purpose registry, and cloud metadata. */
const specialIPv4 = [
  '0.0.0.0/8', // "This network"; Linux connects 0.0.0.0 to the machine itself.
  '10.0.0.0/8',
  '100.64.0.0/10', // Shared by carriers; some clouds keep their metadata here.
  '127.0.0.0/8',
  '168.63.129.16/32', // A public address that only machines of one cloud can reach: its metadata.
  '169.254.0.0/16', // Link-local, where most clouds keep their metadata.
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** All of the public IPv6 internet is in here. Mapped, translated and private ranges are not. */
const globalIPv6 = ['2000::/3']
/** Ranges within `globalIPv6` that are not public, or that embed an IPv4 address. */
const specialIPv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const loopbacks = ['127.0.0.0/8', '::1/128']

const special = rangesOf(specialIPv4, specialIPv6)
const global = rangesOf(globalIPv6)
const loopback = rangesOf(loopbacks)

/** Whether `ip`, an address and not a name, is public. */
export function isPublicAddress(ip: string): boolean {
  const family = familyOf(ip)
  if (family === undefined || special.check(ip, family)) return false
  return family === 'ipv4' || global.check(ip, family)
}

/** Whether connections to this machine are allowed: on all ports, or on all but a list that may grow. */
export type LoopbackRule = boolean | { readonly exceptPorts: readonly number[] }

export type AddressOptions = {
  /** Reach this machine itself, also by plain http. For the test environment only. */
  allowLoopback: LoopbackRule
  /** Further addresses or CIDR blocks that may be reached by https: `10.1.0.0/16`, `fd00::5`. */
  allow?: readonly string[]
}

/** The allowed addresses of connections. */
export type AddressRules = {
  /** Whether a connection of `protocol` (`https:` or `http:`) may go to a port of the address `ip`. */
  permits(ip: string, protocol: string, port: number): boolean
  /** A port of this machine that is closed although loopback is open. */
  isClosed(ip: string, port: number): boolean
}

/** @throws Error naming the entry of `allow` that is neither an address nor a CIDR block. */
export function addressRules(options: AddressOptions): AddressRules {
  const allowed = new BlockList()
  for (const [index, entry] of (options.allow ?? []).entries()) {
    if (!addRange(allowed, entry)) {
      throw new Error(
        `allow[${index}] must be an IP address or a CIDR block such as 10.1.0.0/16, not a name`,
      )
    }
  }
  const rule = options.allowLoopback
  // Nobody checks what joins the list later: with an entry that is no port, no port is open.
  const mayReachPort = (port: number) =>
    typeof rule === 'boolean'
      ? rule
      : rule.exceptPorts.every((closed) => Number.isInteger(closed) && closed !== port)
  return {
    isClosed(ip, port) {
      const family = familyOf(ip)
      const isHere = family !== undefined && loopback.check(ip, family)
      return isHere && typeof rule !== 'boolean' && !mayReachPort(port)
    },
    permits(ip, protocol, port) {
      const family = familyOf(ip)
      if (family === undefined) return false
      if (loopback.check(ip, family) && mayReachPort(port)) return true
      return protocol === 'https:' && (isPublicAddress(ip) || allowed.check(ip, family))
    },
  }
}

/** A list of networks: source addresses of clients. */
export type Networks = { has(ip: string): boolean }

/**
 * Also recognises an IPv4 address in IPv6 form (`::ffff:10.0.0.1`), as dual-stack sockets write it. A text
 * that is not an address lies in no network.
 *
 * @throws Error naming the entry that is neither an address nor a CIDR block.
 */
export function networksOf(entries: readonly string[]): Networks {
  const ranges = new BlockList()
  for (const entry of entries) {
    if (addRange(ranges, entry)) continue
    throw new Error(
      `"${entry}" is neither an IP address nor a CIDR block such as 10.1.0.0/16 or 2001:db8::/32`,
    )
  }
  return {
    has(ip) {
      const family = familyOf(ip)
      return family !== undefined && ranges.check(ip, family)
    },
  }
}

export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; why: string }

/**
 * Checks a URL for calls of the engine: https, a possibly public host, no credentials. `why`
 * completes a sentence that starts with the field's name. The connection resolves the name later
 * and checks the addresses.
 */
export function checkUrl(text: string, rules: AddressRules): UrlCheck {
  const url = URL.parse(text)
  if (url === null) return refused('must be a complete URL such as https://example.com/path')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('must be an https URL')
  if (url.username !== '' || url.password !== '') {
    return refused('must not contain a user name or a password')
  }
  // The URL parser has already turned decimal, octal, hex and short spellings into four numbers.
  const host = hostOf(url)
  const ip = localNames.test(host) ? '127.0.0.1' : host
  const port = portOf(url)
  if (rules.isClosed(ip, port)) {
    return refused(
      `must not lead to port ${port} of this machine, which belongs to the gateway or its database`,
    )
  }
  if (url.protocol === 'http:' && !rules.permits(ip, 'http:', port))
    return refused('must be an https URL')
  if (isIP(ip) !== 0 && !rules.permits(ip, url.protocol, port)) {
    return refused('must lead to a public address')
  }
  url.hash = ''
  return { ok: true, url }
}

/** Names that every resolver answers with this machine. */
const localNames = /^(?:.+\.)?localhost\.?$/

/** The host without the brackets that a URL puts around IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** The port of a URL, including the default port of its protocol. */
export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'http:' ? 80 : 443)
}

function refused(why: string): UrlCheck {
  return { ok: false, why }
}

/** An IPv6 address with a zone (`fe80::1%eth0`) belongs to one link, so it counts as no address. */
function familyOf(ip: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(ip)
  if (version === 0 || ip.includes('%')) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}

function rangesOf(...lists: readonly (readonly string[])[]): BlockList {
  const ranges = new BlockList()
  for (const entry of lists.flat()) addRange(ranges, entry)
  return ranges
}

function addRange(ranges: BlockList, entry: string): boolean {
  const [ip = '', bits, ...rest] = entry.split('/')
  const family = familyOf(ip)
  if (family === undefined || rest.length > 0) return false
  const width = family === 'ipv4' ? 32 : 128
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return false
  const prefix = bits === undefined ? width : Number(bits)
  if (prefix > width) return false
  ranges.addSubnet(ip, prefix, family)
  return true
}
