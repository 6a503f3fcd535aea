/** Addresses of pages that shoppers go on to. */
import type { ParameterErrors } from './parameter-errors.ts'
import type { Nested } from './request.ts'

const names = ['shopperResultUrl', 'resultUrl'] as const

/** Notes an address with a user name or a password: it reads like the host before its `@`. */
export function checkPageAddresses(request: Nested, errors: ParameterErrors): void {
  for (const name of names) {
    const value = request[name]
    if (typeof value !== 'string' || !value.includes('@')) continue
    const address = URL.parse(value)
    if (address !== null && (address.username !== '' || address.password !== '')) {
      errors.add(name, 'must not hold a user name or a password before its host')
    }
  }
}
