import type { FieldState, FrameName, FromFrame, ToFrame } from '../protocol.ts'
import { element } from './dom.ts'

const handshakeLimitMs = 15_000
/** Browsers load a document of their own in place of a blocked frame: it never answers. */
const afterLoadLimitMs = 5_000

export type Frame = {
  readonly element: HTMLIFrameElement
  readonly say: (word: ToFrame) => void
  /** Resolves once the frame has taken its port. */
  readonly ready: Promise<void>
  /** The state of the frame's field, asked for. */
  readonly check: () => Promise<FieldState>
  readonly remove: () => void
}

/**
 * Makes a frame and hands it a port once it has loaded, and a new one when it loads again because
 * the page moved it. The port goes to the frame's exact origin, so that a document of another origin
 * in its place gets nothing.
 */
export function createFrame(
  name: FrameName,
  address: string,
  nonce: string,
  attributes: Readonly<Record<string, string>>,
  listen: (word: FromFrame) => void,
): Frame {
  const frame = element('iframe', {
    src: address,
    referrerpolicy: 'no-referrer',
    'data-tollgate': name,
    ...attributes,
  })
  let channel = new MessageChannel()
  let isHandedOver = false
  let checked: ((state: FieldState) => void) | undefined
  let limit: ReturnType<typeof setTimeout> | undefined
  let hear: (event: MessageEvent) => void = () => {}
  let giveUp = () => {}
  let hasAnswered = false
  const ready = new Promise<void>((resolve, reject) => {
    giveUp = () =>
      reject(
        new Error(
          `The frame ${name} of ${new URL(address).origin} did not answer: is ${location.origin} in widgetOrigins of the channel, and does the content security policy of the page allow the frame?`,
        ),
      )
    limit = setTimeout(giveUp, handshakeLimitMs)
    hear = ({ data }) => {
      const word = data as FromFrame
      if (word.is === 'ready') {
        hasAnswered = true
        clearTimeout(limit)
        resolve()
      }
      if (word.is === 'checked') checked?.(word.state)
      listen(word)
    }
  })
  channel.port1.onmessage = hear
  const handOver = () => {
    if (isHandedOver) {
      channel.port1.close()
      channel = new MessageChannel()
      channel.port1.onmessage = hear
    }
    isHandedOver = true
    if (!hasAnswered) {
      clearTimeout(limit)
      limit = setTimeout(giveUp, afterLoadLimitMs)
    }
    const handover = { tollgate: 'port', nonce }
    frame.contentWindow?.postMessage(handover, new URL(address).origin, [channel.port2])
  }
  frame.addEventListener('load', handOver)
  return {
    element: frame,
    ready,
    say: (word) => channel.port1.postMessage(word),
    check: () =>
      new Promise((resolve) => {
        checked = resolve
        channel.port1.postMessage({ do: 'check' } satisfies ToFrame)
      }),
    remove: () => {
      clearTimeout(limit)
      frame.removeEventListener('load', handOver)
      channel.port1.onmessage = null
      channel.port1.close()
      frame.remove()
    },
  }
}
