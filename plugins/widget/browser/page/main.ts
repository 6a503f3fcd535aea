/** Builds the forms, once the loader has found the checkout. */
import { languageOf } from '../../texts/languages.ts'
import { loadCheckout, type Place } from './checkout.ts'
import { element } from './dom.ts'
import { call, givenOptions, readOptions, type WidgetError, widgetError } from './options.ts'
import { inLanguage, loadTexts, nameUnknownTexts } from './texts.ts'
import { mountWidget } from './widget.ts'

/** The loader leaves these on the script's element, so that no name of ours is global. */
export type Handoff = {
  readonly place: Place
  readonly loading: Promise<Response>
  readonly signal: AbortSignal
  readonly styled: Promise<void>
  readonly unstyle: () => void
  /** The page's forms are there, and taken. */
  readonly ready: Promise<void>
}

const script = document.currentScript as (HTMLScriptElement & { tollgate?: Handoff }) | null

const formsOf = ({ checkoutId }: Place) =>
  [...document.querySelectorAll<HTMLFormElement>('form.paymentWidgets')].filter(
    (form) => form.dataset.tollgate === checkoutId,
  )

async function start({ place, loading, signal, styled, unstyle, ready }: Handoff): Promise<void> {
  try {
    if (self.origin === 'null') {
      const message = 'The page is sandboxed and has no origin; allow-same-origin is needed'
      throw widgetError('WidgetError', message)
    }
    const wish = document.documentElement.lang
    // The checkout rarely names a language of its own, so this one is loaded beside it.
    const likely = languageOf([givenOptions().locale, wish])
    const texts = loadTexts(likely, place.base)
    texts.catch(() => {})
    const [checkout] = await Promise.all([loadCheckout(place, loading), styled, ready])
    // Pages may set their options after the script.
    const options = readOptions()
    if (options.style === 'none') unstyle()
    const code = languageOf([options.locale, checkout.locale, wish])
    const own = await (code === likely ? texts : loadTexts(code, place.base))
    const language = inLanguage(code, own, options)
    if (signal.aborted) return
    nameUnknownTexts(own, options)
    const containers = formsOf(place).flatMap((form) =>
      mountWidget(form, place, checkout, language, options, signal),
    )
    call(options.onReady, window, containers)
  } catch (thrown) {
    await ready
    if (!signal.aborted) await fail(thrown as WidgetError, formsOf(place), place)
  }
}

/** Says on the page that it cannot pay here, in the page's language, and tells the merchant's page. */
async function fail(
  error: WidgetError,
  forms: readonly HTMLFormElement[],
  place: Place,
): Promise<void> {
  const options = givenOptions()
  const known = error.name === 'Error' ? widgetError('WidgetError', error.message) : error
  if (typeof options.onError === 'function') call(options.onError, window, known)
  else console.error(`Tollgate widget: ${known.name}: ${known.message}`)
  const code = languageOf([options.locale, document.documentElement.lang])
  const texts = await loadTexts(code, place.base).catch(() => null)
  if (texts === null) return
  const language = inLanguage(code, texts, options)
  const { messages } = language.texts
  const text = known.name === 'InvalidCheckoutIdError' ? messages.expired : messages.tryAgain
  for (const form of forms) {
    const said = { class: 'wpwl-container wpwl-message wpwl-message-error', role: 'alert' }
    form.replaceChildren(
      element('div', { ...said, lang: language.tag, dir: language.direction }, text),
    )
    form.style.removeProperty('min-height')
  }
}

if (script?.tollgate !== undefined) void start(script.tollgate)
