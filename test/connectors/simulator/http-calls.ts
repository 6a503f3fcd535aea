/** Calls of the acquirer behind HTTP, as the engine and as the owner of its controls. */
import type { Operation } from '@tollgate/plugin-kit'
import { account, type Merchant } from './support.ts'

export const enquire = (merchant: Merchant, operation: Operation) =>
  merchant.connector.resolve.enquire!(operation, merchant.context())

/** The outcome of an operation; for a broken connection, whether bytes were written. */
export async function ended(merchant: Merchant, operation: Operation) {
  try {
    return (await merchant.run(operation)).is
  } catch (error) {
    const { code, wroteBytes } = error as { code?: string; wroteBytes?: boolean }
    return `${code}, ${wroteBytes ? 'bytes written' : 'no byte written'}`
  }
}

export async function control(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/control`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.secret}`, ...headers },
    body: JSON.stringify(body),
  })
  const json = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, json }
}
