import {
  brandOf,
  currencyOf,
  type Format,
  isCountry,
  isCountryAlpha3,
  isCountryNumeric,
  type Operation,
  paymentTypeOf,
  type Step,
  stepsOf,
} from '@tollgate/schemas'
import type { ParameterErrors } from './parameter-errors.ts'
import type { Nested } from './request.ts'

/** Checks that well-formed codes are members of their tables, and notes other codes. */
export type CheckCodes = (request: Nested, errors: ParameterErrors) => void

type Table = {
  readonly has: (code: string) => boolean
  /** Result code of a well-formed value that is no member. */
  readonly refusal: string
  readonly what: string
}

/** The country of an account is part of the account, not of an address. */
const ownRefusals: ReadonlyMap<string, string> = new Map([['bankAccount.country', '100.200.100']])

const country = { refusal: '100.800.501', what: 'country of ISO 3166-1' }

const tables: Readonly<Partial<Record<Format['kind'], Table>>> = {
  currency: {
    has: (code) => currencyOf(code) !== undefined,
    refusal: '100.550.401',
    what: 'currency of ISO 4217',
  },
  country: { has: isCountry, ...country },
  'country-alpha3': { has: isCountryAlpha3, ...country },
  'country-numeric': { has: isCountryNumeric, ...country },
  brand: {
    has: (code) => brandOf(code) !== undefined,
    refusal: '100.100.501',
    what: 'brand',
  },
  'payment-type': {
    has: (code) => paymentTypeOf(code) !== undefined,
    refusal: '100.500.201',
    what: 'payment type',
  },
}

/** The code tables of a format; a value must be a member of one of them. */
export function tablesOf(format: Format): Table[] {
  const formats = format.kind === 'either' ? format.of : [format]
  const found = formats.map(({ kind }) => tables[kind])
  // A format that also allows other text does not limit its values to a table.
  return found.every((table) => table !== undefined) ? found : []
}

export function codesOf(operation: Operation): CheckCodes {
  const checks = operation.fields.flatMap((field) => {
    const members = tablesOf(field.format)
    return members.length === 0 ? [] : [{ field, members, steps: stepsOf(field) }]
  })
  return (request, errors) => {
    for (const { field, members, steps } of checks) {
      visit(request, steps, 0, '', (name, value) => {
        if (members.some((table) => table.has(value))) return
        errors.add(name, `is no known ${members[0]?.what}`, {
          known: { field, value },
          code: field.options.code ?? ownRefusals.get(field.name) ?? members[0]?.refusal,
        })
      })
    }
  }
}

/** Visits every value at the name in `steps`; lists can contain many. */
function visit(
  at: unknown,
  steps: readonly Step[],
  position: number,
  name: string,
  found: (name: string, value: string) => void,
): void {
  if (typeof at === 'string' && position === steps.length) found(name, at)
  const step = steps[position]
  if (step === undefined || typeof at !== 'object' || at === null) return
  if (step.kind === 'key') {
    const next = (at as Nested)[step.key]
    if (next === undefined) return
    const spelled = step.bracketed ? `[${step.key}]` : name === '' ? step.key : `.${step.key}`
    visit(next, steps, position + 1, name + spelled, found)
  } else {
    for (const [key, next] of Object.entries(at)) {
      visit(next, steps, position + 1, `${name}[${key}]`, found)
    }
  }
}
