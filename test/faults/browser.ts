/** The browser of a scripted shopper: one request at a time, without scripts and without redirects. */
import { Agent, request } from 'node:http'

export type Page = {
  readonly status: number
  readonly location: string | undefined
  readonly text: string
}

/** Longer than a merchant waits: a repeated press waits for the payment that the first one began. */
const withinMs = 6_000
const agent = new Agent({ keepAlive: true, maxSockets: 512, scheduling: 'lifo' })

/**
 * Undefined when no answer arrived.
 *
 * @param form posted when given
 */
export function visit(
  url: string,
  form?: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Page | undefined> {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString()
  return new Promise((resolve) => {
    const none = () => resolve(undefined)
    const sent = request(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        agent,
        timeout: withinMs,
        headers: {
          ...headers,
          ...(body === undefined
            ? {}
            : {
                'content-type': 'application/x-www-form-urlencoded',
                'content-length': Buffer.byteLength(body),
              }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', none)
        response.on('close', none)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy())
    sent.on('error', none)
    sent.on('close', none)
    sent.end(body)
  })
}

/** The fields of a JSON answer; none for another text. */
export function fieldsOf(page: Page | undefined): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(page?.text ?? '{}') as Record<string, unknown>
  } catch {
    return {}
  }
}
