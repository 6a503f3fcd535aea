import { errorFields, type Gateway, type Reply } from '@tollgate/core'
import { sendReply } from './answer.ts'
import { BodyTakenError } from './body.ts'
import type { HttpAnswer } from './exchange.ts'
import type { HostLog } from './request-log.ts'

/** The answer where answering itself went wrong: nothing of it may fail. */
const bare = JSON.stringify({
  result: { code: '600.100.100', description: 'gateway could not process the request' },
})

const bareHeaders = [
  ...['Content-Type', 'application/json;charset=UTF-8'],
  ...['Content-Length', String(Buffer.byteLength(bare))],
  ...['Connection', 'close'],
]

/** The reply for an error. A mistake in the program around the gateway stands in its log. */
export function refusalOf(
  { gateway, log }: { readonly gateway: Gateway; readonly log: HostLog },
  error: unknown,
  requestId: string,
): Reply {
  if (error instanceof BodyTakenError) log.warn({ ndc: requestId }, error.message)
  return gateway.refuse(error, requestId)
}

/**
 * Answers a request that could not be answered in any other way: at least that it failed through a fault
 * of ours, at most the end of its connection.
 */
export function answerFault(
  { gateway, log }: { readonly gateway: Gateway; readonly log: HostLog },
  response: HttpAnswer,
  error: unknown,
  requestId: string,
): void {
  try {
    const { place, ...what } = errorFields(error)
    log.warn({ ...what, place, ndc: requestId }, 'an answer failed through a fault of the gateway')
    gateway.alarm('last-resort', { subject: place, ...what })
    sendReply(response, gateway.refuse(error, requestId), requestId, true)
  } catch {
    // The following code uses nothing that could be broken.
  }
  if (response.writableEnded || response.destroyed) return
  try {
    if (!response.headersSent) {
      response.writeHead(500, bareHeaders)
      response.end(bare)
    } else response.destroy()
  } catch {
    response.destroy()
  }
}
