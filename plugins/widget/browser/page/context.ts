import type { FromFrame } from '../protocol.ts'
import { frameAddress } from './assets.ts'
import { callbackTarget } from './callback-target.ts'
import type { Checkout, Place } from './checkout.ts'
import { wholePlace } from './checkout.ts'
import { hideFromView } from './dom.ts'
import { createFrame, type Frame } from './frame.ts'
import { call, type Options, widgetError } from './options.ts'
import type { Language } from './texts.ts'

/** Everything that the forms of one merchant's form share. */
export type Context = {
  readonly options: Options
  readonly place: Place
  readonly checkout: Checkout
  readonly language: Language
  /** The merchant's `form.paymentWidgets`. */
  readonly merchantForm: HTMLFormElement
  readonly brands: readonly string[]
  /** The same for the frames of this form, so that they know each other. */
  readonly nonce: string
  /** Ends with the widget: listeners and frames go. */
  readonly signal: AbortSignal
}

export function reportError(
  { options }: Pick<Context, 'options'>,
  name: Parameters<typeof widgetError>[0],
  message: string,
): void {
  const error = widgetError(name, message)
  if (typeof options.onError === 'function') call(options.onError, window, error)
  else console.error(`Tollgate widget: ${name}: ${message}`)
}

/** Address of the origin that carries the fields; the challenge and the script live on the other. */
function frameBase({ checkout, place }: Context, name: string): string {
  const { fieldsUrl } = checkout
  if (fieldsUrl === undefined || name === 'challenge') return place.base
  return fieldsUrl.replace(/\/+$/, '') + new URL(place.base).pathname
}

/** A frame of this form; one that does not answer is reported to the page. */
export function openFrame(
  context: Context,
  name: Parameters<typeof createFrame>[0],
  attributes: Readonly<Record<string, string>>,
  listen: (word: FromFrame) => void,
): Frame {
  const { place, nonce, options, signal } = context
  const base = frameBase(context, name)
  const address = frameAddress(wholePlace({ ...place, base }), name)
  const frame = createFrame(name, address, nonce, attributes, listen)
  frame.ready.then(
    () => call(options.onReadyIframeCommunication, callbackTarget(frame.element), frame.element),
    (thrown: Error) => {
      if (!signal.aborted) reportError(context, 'PciIframeCommunicationError', thrown.message)
    },
  )
  signal.addEventListener('abort', frame.remove, { once: true })
  return frame
}

/** A frame that works for a form and shows nothing. */
export function openHiddenFrame(
  context: Context,
  name: 'submit' | 'challenge',
  listen: (word: FromFrame) => void,
): Frame {
  const unseen = { tabindex: '-1', 'aria-hidden': 'true', title: '' }
  const frame = openFrame(context, name, unseen, listen)
  hideFromView(frame.element)
  return frame
}
