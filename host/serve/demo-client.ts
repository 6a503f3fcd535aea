/** A merchant's client for the demos: the gateway over HTTP. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Credentials } from './demo.ts'

type Fields = Readonly<Record<string, string>>

export type Answer = {
  readonly id: string
  readonly result: { readonly code: string; readonly description: string }
  readonly [name: string]: unknown
}

export type DemoClient = {
  /** @throws Error for an unexpected response. */
  call(method: string, path: string, fields?: Fields): Promise<Answer>
  /** Advances a test clock and waits until it has arrived. */
  advance(clockId: string, by: string): Promise<Answer>
}

export function demoClient({ baseUrl, entityId, accessToken }: Credentials): DemoClient {
  const call = async (method: string, path: string, fields: Fields = {}): Promise<Answer> => {
    const isBody = method === 'POST'
    const text = new URLSearchParams({ entityId, ...fields }).toString()
    const response = await fetch(`${baseUrl}${path}${isBody ? '' : `?${text}`}`, {
      method,
      headers: { Authorization: `Bearer ${accessToken}` },
      ...(isBody ? { body: new URLSearchParams({ entityId, ...fields }) } : {}),
    })
    const answer = (await response.json()) as Answer
    if (!response.ok) {
      throw new Error(`${method} ${path} answered ${JSON.stringify(answer.result)}`)
    }
    return answer
  }
  return {
    call,
    async advance(clockId, by) {
      await call('POST', `/v1/testclocks/${clockId}/advance`, { by })
      for (;;) {
        const clock = await call('GET', `/v1/testclocks/${clockId}`)
        if (clock.status === 'READY') return clock
        await pause(50)
      }
    },
  }
}

export const told = ({ result }: Answer): string => `${result.code} ${result.description}`
