import { embedder } from '../caller/embedder.ts'
import { originsOf } from '../checkout/channels.ts'
import { find } from '../checkout/find.ts'
import type { Checkout } from '../checkout/types.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { loaderName } from '../widget-files/files.ts'
import { fileReply, frameReply, noFile, type WidgetAsked, type WidgetReply } from './replies.ts'

const year = 'public, max-age=31536000, immutable'
/** As long as a checkout is valid, which keeps its version. */
const checkoutsLife = 'private, max-age=1800, immutable'
const again = 'no-cache'

/** The widget for the pages of merchants: responses with all their headers, for any server. */
export class Widget {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * The script of merchants' pages, in the version of the checkout. A checkout that is unknown gets the present
   * version, which says so in the page.
   */
  async script(checkoutId: string | undefined, asked: WidgetAsked = {}): Promise<WidgetReply> {
    const { widgetFiles } = this.#engine
    const checkout = checkoutId === undefined ? undefined : await this.#checkout(checkoutId)
    const kept = checkout?.scriptHash ?? undefined
    const hash = kept ?? widgetFiles.current?.scriptHash
    const file = hash === undefined ? undefined : await widgetFiles.find(hash, loaderName)
    if (hash === undefined || file === undefined) return noFile
    return fileReply(file, hash, kept === undefined ? again : checkoutsLife, asked)
  }

  /** A script, a style or a language. */
  async asset(hash: string, name: string, asked: WidgetAsked = {}): Promise<WidgetReply> {
    const file = await this.#engine.widgetFiles.find(hash, name)
    // Frames are served under their checkouts.
    if (file === undefined || file.policy !== undefined) return noFile
    return fileReply(file, hash, year, asked)
  }

  /** The document of a field or of a challenge, for the pages that may show this checkout. */
  async frame(checkoutId: string, hash: string, name: string): Promise<WidgetReply> {
    const file = await this.#engine.widgetFiles.find(hash, name)
    if (file?.policy === undefined) return noFile
    return frameReply(file, await this.#ancestorsOf(checkoutId))
  }

  /** The origins of the channel; without a list every page over TLS, in test every page. */
  async #ancestorsOf(checkoutId: string): Promise<readonly string[]> {
    const checkout = await this.#checkout(checkoutId)
    if (checkout !== undefined) {
      const origins = originsOf(await this.#engine.directory.addressee(embedder, checkout.entityId))
      if (origins !== undefined) return origins.length > 0 ? origins : ["'none'"]
    }
    return this.#engine.environment === 'live' ? ['https:'] : ['https:', 'http:']
  }

  async #checkout(id: string): Promise<Checkout | undefined> {
    try {
      return await find(this.#engine, id)
    } catch (error) {
      if (error instanceof GatewayError && error.status === 404) return undefined
      throw error
    }
  }
}
