import type { FromFrame, Handover, ToFrame } from '../protocol.ts'

export type PagePort = {
  readonly nonce: string
  /** Origin of the page, as the browser says. */
  readonly origin: string
  readonly say: (word: FromFrame) => void
}

function isHandover(data: unknown): data is Handover {
  const message = data as Partial<Handover> | null
  return (
    typeof message === 'object' &&
    message?.tollgate === 'port' &&
    typeof message.nonce === 'string' &&
    /^[\w-]{16,64}$/.test(message.nonce)
  )
}

/** Waits for the port of the page around this frame. The first one counts; others change nothing. */
export function awaitPage(
  opened: (port: PagePort) => void,
  listen: (word: ToFrame, port: PagePort) => void,
): void {
  const take = (event: MessageEvent) => {
    const [channel] = event.ports
    if (event.source !== parent || channel === undefined || !isHandover(event.data)) return
    removeEventListener('message', take)
    const port: PagePort = {
      nonce: event.data.nonce,
      origin: event.origin,
      say: (word) => channel.postMessage(word),
    }
    channel.onmessage = ({ data }) => listen(data as ToFrame, port)
    opened(port)
    port.say({ is: 'ready' })
  }
  if (parent !== window) addEventListener('message', take)
}
