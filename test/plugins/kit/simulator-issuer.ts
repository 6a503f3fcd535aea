/** The simulated issuer in the form of the authenticator suite, over each transport. */
import {
  type Authenticator,
  type Card,
  type PageReply,
  type PageVisit,
  type Records,
  Sensitive,
} from '@tollgate/plugin-kit'
import type { AuthenticatorSandbox, Brought, Deed } from '@tollgate/plugin-kit/testing'
import { messageAbout } from '../../../connectors/simulator/authentication/event.ts'
import { createAuthenticator, createSimulatorPlugin } from '../../../connectors/simulator/index.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'

const card = (number: string, brand = 'VISA'): Card => ({
  kind: 'card',
  brand,
  number: new Sensitive(number),
  bin: number.slice(0, 6),
  last4: number.slice(-4),
  expiryMonth: '12',
  expiryYear: '2034',
  holder: 'Jane Jones',
})

/** The code that the cardholder types. */
const codes: Readonly<Record<Exclude<Deed, 'cancel'>, string>> = { confirm: '1234', refuse: '3333' }
const formOf = (deed: Deed): Readonly<Record<string, string>> =>
  deed === 'cancel' ? { do: 'cancel' } : { do: 'confirm', code: codes[deed] }

const scenes = {
  decided: [
    { card: card('4200000000000091'), expected: { is: 'authenticated', eci: '05' } },
    { card: card('5200000000000007', 'MASTER'), expected: { is: 'authenticated', eci: '02' } },
    { card: card('4200000000000109'), expected: { is: 'attempted', eci: '06' } },
    { card: card('5200000000000023', 'MASTER'), expected: { is: 'attempted', eci: '01' } },
    { card: card('4012001037461114'), expected: { is: 'unavailable' } },
    { card: card('4012001037141112'), expected: { is: 'failed', status: 'N' } },
    { card: card('4532497088771651'), expected: { is: 'notEnrolled' } },
    { card: card('4200000000000000'), expected: { is: 'notEnrolled' } },
  ],
  challenge: {
    card: card('4200000000000042'),
    deeds: { confirm: 'authenticated', refuse: 'failed', cancel: 'cancelled' },
    forged: { status: 'Y', transStatus: 'Y', code: '1234', cres: 'eyJ0cmFuc1N0YXR1cyI6IlkifQ' },
  },
} as const satisfies Partial<AuthenticatorSandbox>

const linkTo = (location: string): Brought => ({
  method: 'GET',
  query: Object.fromEntries(new URL(location).searchParams),
  form: {},
})

/** The issuer inside the process. */
export function issuerInProcess(): { authenticator: Authenticator; sandbox: AuthenticatorSandbox } {
  const authenticator = createAuthenticator()
  const { pages } = createSimulatorPlugin()
  const sandbox: AuthenticatorSandbox = {
    ...scenes,
    async open({ records, clock }) {
      const begun = countNew(records)
      const context = { records: () => records, clock: { now: () => new Date(clock.ms) } }
      const visit = (asked: Partial<PageVisit>): Promise<PageReply> =>
        pages!({ method: 'GET', path: '/', query: {}, form: {}, ...asked }, context)
      return {
        settings: () => ({ config: {}, account: {} }),
        begun: async () => begun,
        async shopper(_key, { url }, deed) {
          const path = new URL(url).pathname.replace('/v1/pages/plugin', '')
          const { location = '' } = await visit({ method: 'POST', path, form: formOf(deed) })
          return linkTo(location)
        },
        async close() {},
      }
    },
  }
  return { authenticator, sandbox }
}

/** The keys of new cases, as they are stored. */
function countNew(records: Records): readonly string[] {
  const begun: string[] = []
  const swap = records.swap.bind(records)
  records.swap = async (key, expected, value) => {
    const isStored = await swap(key, expected, value)
    const [kind, name = ''] = key.split('/')
    if (isStored && expected === undefined && kind === 'case') begun.push(name)
    return isStored
  }
  return begun
}

const account = { merchantId: 'shop', secret: 'simulator-secret-of-a-test' }
const altered = (body: string, change: (answer: Record<string, unknown>) => object): string => {
  const answer = JSON.parse(body) as Record<string, unknown>
  return JSON.stringify({ ...answer, ...change(answer) })
}

/** The issuer behind HTTP. */
export const issuerOverHttp: AuthenticatorSandbox = {
  ...scenes,
  answers: {
    alterPage: (body, address) =>
      altered(body, ({ pages }) => ({ pages: { ...(pages as object), challenge: address } })),
    alterAmount: (body, { minor, currency }) =>
      altered(body, () => ({ amount: { minor: String(minor), currency } })),
    withoutProof: (body) => altered(body, () => ({ verificationId: undefined })),
    nameTheKey: true,
  },
  async open() {
    const server = await startSimulator({ secret: account.secret })
    return {
      url: server.url,
      settings: (url) => ({ config: { url }, account }),
      begun: async () => server.authentications().map(({ key }) => key),
      async shopper(_key, { url }, deed) {
        const body = new URLSearchParams(formOf(deed))
        const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
        return linkTo(answer.headers.get('location') ?? '')
      },
      event: async (key) =>
        messageAbout(server.authentications().find((known) => known.key === key)!, account.secret),
      close: () => server.close(),
    }
  },
}
