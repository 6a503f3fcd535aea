/** Builds the forms, once the loader has found the checkout. */
import { languageOf } from '../../texts/languages.ts'
import { loadCheckout, type Place } from './checkout.ts'
import { element } from './dom.ts'
import { call, readOptions, type WidgetError, widgetError } from './options.ts'
import { loadLanguage } from './texts.ts'
import { mountWidget } from './widget.ts'

/** The loader leaves these on the script's element, so that no name of ours is global. */
export type Handoff = {
  readonly place: Place
  readonly loading: Promise<Response>
  readonly signal: AbortSignal
  readonly styled: Promise<void>
}

const script = document.currentScript as (HTMLScriptElement & { tollgate?: Handoff }) | null

async function start({ place, loading, signal, styled }: Handoff): Promise<void> {
  const options = readOptions()
  const forms = [...document.querySelectorAll<HTMLFormElement>('form.paymentWidgets')].filter(
    (form) => form.dataset.tollgate === place.checkoutId,
  )
  try {
    if (self.origin === 'null') {
      throw widgetError(
        'WidgetError',
        'The page is sandboxed and has no origin; allow-same-origin is needed',
      )
    }
    const wishes = [document.documentElement.lang]
    const [checkout] = await Promise.all([loadCheckout(place, loading), styled])
    const code = languageOf([options.locale, checkout.locale, ...wishes])
    const language = await loadLanguage(code, place.base, options)
    if (signal.aborted) return
    const containers = forms.flatMap((form) =>
      mountWidget(form, place, checkout, language, options, signal),
    )
    call(options.onReady, window, containers)
  } catch (thrown) {
    if (!signal.aborted) await fail(thrown as WidgetError, forms, place)
  }
}

/** Says on the page that it cannot pay here, in the page's language, and tells the merchant's page. */
async function fail(
  error: WidgetError,
  forms: readonly HTMLFormElement[],
  place: Place,
): Promise<void> {
  const options = readOptions()
  const known = error.name === 'Error' ? widgetError('WidgetError', error.message) : error
  if (typeof options.onError === 'function') call(options.onError, window, known)
  else console.error(`Tollgate widget: ${known.name}: ${known.message}`)
  const code = languageOf([options.locale, document.documentElement.lang])
  const language = await loadLanguage(code, place.base, options).catch(() => null)
  if (language === null) return
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
