/** The widget over HTTP: its script, its frames and the files that they load. */
import type { WidgetAsked, WidgetReply } from '@tollgate/core'
import type { Document } from './answer.ts'
import type { HttpRequest } from './exchange.ts'
import type { OwnOperation } from './own-operations.ts'
import { widgetHeaders } from './security-headers.ts'

const frame: OwnOperation = async ({ gateway, path }) => {
  const { id = '', hash = '', name = 'challenge' } = path
  return documentOfFile(await gateway.widget.frame(id, hash, name))
}

export const widgetOperations: Readonly<Record<string, OwnOperation>> = {
  async 'widget.script'({ gateway, request, query }) {
    const checkoutId = new URLSearchParams(query).get('checkoutId')
    // Pages that register an account append the word to the id.
    const id = checkoutId?.split('/', 1)[0]
    return documentOfFile(await gateway.widget.script(id, askedBy(request)))
  },
  async 'widget.asset'({ gateway, request, path }) {
    const { hash = '', file = '' } = path
    return documentOfFile(await gateway.widget.asset(hash, file, askedBy(request)))
  },
  'widget.challenge': frame,
  'widget.frame': frame,
}

const askedBy = ({ headers }: HttpRequest): WidgetAsked => ({
  ifNoneMatch: headers['if-none-match'],
  acceptEncoding: String(headers['accept-encoding'] ?? ''),
})

function documentOfFile({ status, headers, body }: WidgetReply): Document {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return { status, headers: widgetHeaders(headers), text }
}
