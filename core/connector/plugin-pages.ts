/** Pages that plugins serve to shoppers in test set-ups: an issuer's challenge, a bank's page. */
import type { PageReply, PageVisit, Plugin } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { openRecords } from './records.ts'

/** The account of records in mode INTERNAL, which has no accounts. */
const internal = 'internal'

type Parts = {
  readonly plugins: readonly Plugin[]
  readonly environment: 'test' | 'live'
  /** Default: 0. */
  readonly pod?: number
  readonly lanes: Lanes
  readonly clock: Clock
}

/** Values of a header; a line break would begin another header. */
const headerValue = /^[\x20-\x7e]{1,8192}$/

export class PluginPages {
  readonly #parts: Parts
  readonly #serving: ReadonlyMap<string, Plugin>
  /** Between the name of the plugin and its own path: pods other than 0 name themselves. */
  readonly prefix: string

  constructor(parts: Parts) {
    this.#parts = parts
    const { pod = 0 } = parts
    this.prefix = pod === 0 ? '' : `/@${pod}`
    const serving = parts.environment === 'live' ? [] : parts.plugins.filter(({ pages }) => pages)
    this.#serving = new Map(serving.map((plugin) => [plugin.name, plugin]))
  }

  /** Whether shoppers can visit pages of this plugin. On live no plugin serves any. */
  readonly serves = (plugin: string): boolean => this.#serving.has(plugin)

  /**
   * Answers a browser's visit of a page below `<publicUrl>/v1/pages/<plugin>`. Browsers may show the
   * page in a frame, so its headers should allow that.
   *
   * @returns undefined when the plugin serves no pages here.
   * @throws Error when the plugin throws, or when its reply cannot be sent.
   */
  readonly visit = async (name: string, visit: PageVisit): Promise<PageReply | undefined> => {
    const plugin = this.#serving.get(name)
    if (plugin?.pages === undefined) return undefined
    const { lanes, clock } = this.#parts
    const { path } = visit
    const isPrefixed = this.prefix !== '' && path.startsWith(`${this.prefix}/`)
    const own = isPrefixed ? { ...visit, path: path.slice(this.prefix.length) } : visit
    const reply = await plugin.pages(own, {
      records: (part) => openRecords(lanes, ownPart(plugin, part), internal),
      clock: { now: () => new Date(clock.realMs()) },
    })
    return checked(reply, name)
  }
}

/** A plugin reads the records of its own parts only. */
function ownPart({ name, connectors = [], authenticators = [] }: Plugin, part: string): string {
  if ([...connectors, ...authenticators].some((own) => own.name === part)) return part
  throw new Error(
    `a page of the plugin "${name}" asked for records of "${part}", which is no part of it`,
  )
}

function checked(reply: PageReply, name: string): PageReply {
  const { status, html, location, contentSecurityPolicy } = reply
  const wrong = (what: string) => new Error(`a page of the plugin "${name}" has ${what}`)
  if (!Number.isInteger(status) || status < 200 || status > 499) throw wrong('no status 200 to 499')
  if (html !== undefined && typeof html !== 'string') throw wrong('HTML that is no text')
  if (location !== undefined && !isPlace(location)) throw wrong('a location that is no web address')
  if (contentSecurityPolicy !== undefined && !headerValue.test(contentSecurityPolicy)) {
    throw wrong('a content security policy that no header can hold')
  }
  return reply
}

/** A web address, or a path relative to the page. */
function isPlace(location: unknown): boolean {
  if (typeof location !== 'string' || !headerValue.test(location)) return false
  return /^https?:$/.test(URL.parse(location, 'https://page.example')?.protocol ?? '')
}
