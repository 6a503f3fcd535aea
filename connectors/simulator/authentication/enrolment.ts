/** The rows of the rules about 3-D Secure, as the issuer applies them. */
import { type Effect, rules, type Sign } from '../rules.ts'

/** The way of a card through 3-D Secure. */
export type Enrolment = {
  readonly enrolled: boolean
  readonly flow: 'frictionless' | 'challenge'
  /** The status where no challenge asks for it. */
  readonly status: 'Y' | 'A' | 'N' | 'R' | 'U'
  readonly deviceStep: boolean
}

/** The fields of a request that change the way: `name=value`. */
export const enrolmentParameters = [
  '3DS2_enrolled=true',
  '3DS2_flow=frictionless',
  '3DS2_flow=challenge',
  'threeDSecure.challengeIndicator=04',
] as const

type Secure = NonNullable<Effect['authentication']>

const rowsOf = (sign: Sign): ReadonlyMap<string, Secure> =>
  new Map(
    rules.flatMap(([known, values, { authentication }]): [string, Secure][] =>
      known !== sign || values === 'otherwise' || authentication === undefined
        ? []
        : values.map((value) => [value, authentication]),
    ),
  )

const byNumber = rowsOf('number')
const byParameter = rowsOf('parameter')
const byCode = rowsOf('challengeCode')

/** @param named parameters of the request, in the form of `enrolmentParameters` */
export function enrolmentOf(number: string | undefined, named: readonly string[]): Enrolment {
  const card = byNumber.get(number ?? '') ?? {}
  const asked = enrolmentParameters.filter((name) => named.includes(name))
  const {
    enrolled = false,
    flow = 'frictionless',
    status,
    deviceStep = false,
  }: Secure = Object.assign({}, card, ...asked.map((name) => byParameter.get(name)))
  return { enrolled, flow, status: status ?? 'Y', deviceStep }
}

/** The effect of a code on the challenge page; nothing for a wrong one. */
export const effectOfCode = (code: string): Secure =>
  /^[0-9]+$/.test(code) ? (byCode.get(code) ?? {}) : {}

/** The codes of the challenge page with their statuses, in the order of the table. */
export const codes: readonly (readonly [code: string, status: NonNullable<Secure['status']>])[] = [
  ...byCode,
].flatMap(([code, { status }]) =>
  status !== undefined && /^[0-9]+$/.test(code) ? [[code, status] as const] : [],
)
