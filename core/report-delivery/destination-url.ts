/** The URL of a destination: `sftp://host:port/folder` or `ftps://host:port/folder`. */
import type { Transfer } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { refuse } from '../request/values.ts'

/** The server and folder in a URL. */
export type Place = {
  readonly scheme: Transfer['scheme']
  readonly host: string
  readonly port: number
  /** Absolute, or below the folder of the login; `.` is that folder. */
  readonly folder: string
}

/**
 * Reads the URL of a destination, and checks that the engine may connect there.
 *
 * @throws GatewayError 400 naming `folderUrl`.
 */
export function readDestinationUrl(
  { checkUrl, registry }: Pick<Engine, 'checkUrl' | 'registry'>,
  text: string,
): { place: Place; transfer: Transfer } {
  const wrong = (why: string) => refuse('200.300.404', 'folderUrl', why, text)
  const scheme = /^(sftp|ftps):\/\//.exec(text)?.[1] as Transfer['scheme'] | undefined
  if (scheme === undefined) {
    throw wrong('must begin with sftp:// or ftps://; FTP without TLS is not used')
  }
  const transfer = registry.transfers.get(scheme)
  if (transfer === undefined) {
    throw wrong(`needs a plugin that speaks ${scheme}, such as @tollgate/file-transfer`)
  }
  // With the rules for names, addresses and ports of https URLs.
  const check = checkUrl(`https${text.slice(scheme.length)}`)
  if (!check.ok) throw wrong(check.why.replace('an https URL', `an ${scheme} URL`))
  const { hostname, port, pathname, search } = check.url
  if (search !== '' || text.includes('#')) throw wrong('must end with the folder')
  const folder = folderIn(pathname)
  if (folder === undefined)
    throw wrong('must have a folder without empty steps, control characters and ".."')
  const host = hostname.replace(/^\[|\]$/g, '')
  // The URL parser leaves out 443, which is the default port of neither protocol.
  const written =
    port === '' && /^https:\/\/[^/]*:0*443(?:\/|$)/.test(`https${text.slice(scheme.length)}`)
  return {
    place: { scheme, host, port: written ? 443 : Number(port) || transfer.defaultPort, folder },
    transfer,
  }
}

function folderIn(pathname: string): string | undefined {
  let path: string
  try {
    path = decodeURIComponent(pathname)
  } catch {
    return undefined
  }
  const steps = path.split('/').slice(1)
  if (steps.at(-1) === '') steps.pop()
  const isUnfit = steps.some((step) => step === '' || step === '..')
  if (isUnfit || /[\x00-\x1f\x7f]/.test(path)) return undefined
  if (steps[0] === '~') return steps.slice(1).join('/') || '.'
  return steps.length === 0 ? '.' : `/${steps.join('/')}`
}
