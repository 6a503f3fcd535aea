import type { FieldState, FrameName, FromFrame, ToFrame } from '../protocol.ts'
import { element } from './dom.ts'

const handshakeLimitMs = 15_000

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
 * Makes a frame and hands it its port once it has loaded. The port goes to the frame's exact origin,
 * so that a document of another origin in its place gets nothing.
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
  const { port1, port2 } = new MessageChannel()
  let checked: ((state: FieldState) => void) | undefined
  let limit: ReturnType<typeof setTimeout> | undefined
  const ready = new Promise<void>((resolve, reject) => {
    limit = setTimeout(
      () => reject(new Error(`The frame ${name} did not answer`)),
      handshakeLimitMs,
    )
    port1.onmessage = ({ data }) => {
      const word = data as FromFrame
      if (word.is === 'ready') {
        clearTimeout(limit)
        resolve()
      }
      if (word.is === 'checked') checked?.(word.state)
      listen(word)
    }
  })
  frame.addEventListener(
    'load',
    () => {
      const handover = { tollgate: 'port', nonce }
      frame.contentWindow?.postMessage(handover, new URL(address).origin, [port2])
    },
    { once: true },
  )
  return {
    element: frame,
    ready,
    say: (word) => port1.postMessage(word),
    check: () =>
      new Promise((resolve) => {
        checked = resolve
        port1.postMessage({ do: 'check' } satisfies ToFrame)
      }),
    remove: () => {
      clearTimeout(limit)
      port1.onmessage = null
      port1.close()
      frame.remove()
    },
  }
}
