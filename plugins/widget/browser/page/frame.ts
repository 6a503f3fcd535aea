import type { FieldState, FrameName, FromFrame, ToFrame } from '../protocol.ts'
import { element } from './dom.ts'

/**
 * Times for a frame to load, and then to answer. A frame that does not answer is loaded once again: a network may have
 * brought something else once. Browsers load a document of their own in place of a blocked frame, which never answers.
 */
const tries = [
  { loadMs: 10_000, answerMs: 2_000 },
  { loadMs: 15_000, answerMs: 3_000 },
] as const

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
  let isSecond = false
  /** Words that a document which never answered would have taken along. */
  let unheard: ToFrame[] = []
  const wait = (kind: keyof (typeof tries)[number]) => {
    clearTimeout(limit)
    limit = setTimeout(giveUp, tries[isSecond ? 1 : 0][kind])
  }
  const ready = new Promise<void>((resolve, reject) => {
    giveUp = () => {
      if (isSecond) {
        return reject(
          new Error(
            `The frame ${name} of ${new URL(address).origin} did not answer: is ${location.origin} in widgetOrigins of the channel, and does the content security policy of the page allow the frame?`,
          ),
        )
      }
      isSecond = true
      wait('loadMs')
      // The way back of the browser gets no further step.
      frame.contentWindow?.location.replace(address)
    }
    wait('loadMs')
    hear = ({ data }) => {
      const word = data as FromFrame
      if (word.is === 'ready') {
        hasAnswered = true
        unheard = []
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
      for (const word of unheard) channel.port1.postMessage(word)
    }
    isHandedOver = true
    if (!hasAnswered) wait('answerMs')
    const handover = { tollgate: 'port', nonce }
    frame.contentWindow?.postMessage(handover, new URL(address).origin, [channel.port2])
  }
  frame.addEventListener('load', handOver)
  const say = (word: ToFrame) => {
    if (!hasAnswered) unheard.push(word)
    channel.port1.postMessage(word)
  }
  return {
    element: frame,
    ready,
    say,
    check: () =>
      new Promise((resolve) => {
        checked = resolve
        say({ do: 'check' })
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
