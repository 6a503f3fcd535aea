/** Known names that an operation does not take: the error says where they belong. */
import { operations } from '@tollgate/schemas'

/** The first public operation that takes a name, in the order of the reference: `POST /v1/payments`. */
let takers: ReadonlyMap<string, string> | undefined

function made(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { endpoint, fields } of operations().values()) {
    if (endpoint.login !== 'token') continue
    for (const { name, options } of fields) {
      for (const spelled of [name, ...(options.aliases ?? [])]) {
        const general = spelled.replace(/\[name\]$/, anyKey)
        if (!found.has(general)) found.set(general, `${endpoint.method} ${endpoint.path}`)
      }
    }
  }
  return found
}

const anyKey = '[*]'

/** @returns `POST /v1/payments` for a name that payments take; undefined for unknown names. */
export function takerOf(name: string): string | undefined {
  // Schedules take it as a field, but whoever sends it with a payment wants to charge the account.
  if (name === 'registrationId') return 'the path of POST /v1/registrations/{id}/payments'
  takers ??= made()
  const indexed = name.replace(/\[\d{1,4}\]/g, '[n]')
  return takers.get(indexed) ?? takers.get(indexed.replace(/\[[^[\]]{1,64}\]$/, anyKey))
}
