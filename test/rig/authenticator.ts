/** An authenticator scripted by a test for each payment, beside the scripted acquirer. */
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  type AuthenticatorContext,
  type Card,
  defineAuthenticator,
  Sensitive,
  type ShopperReturn,
} from '@tollgate/plugin-kit'
import { scriptedName } from './acquirer.ts'
import { card, type TestGatewayOptions } from './gateway.ts'
import { type LateRun, startLate, type Variants } from './late-words.ts'

type Answer = Authentication | { is: 'notFound' }
type Told = (
  request: AuthenticationRequest,
  context: AuthenticatorContext,
  back?: ShopperReturn,
) => Promise<Answer> | Answer

/** Answers about one payment; by default the authenticator confirms the shopper. */
export type AuthenticatorScript = {
  readonly authenticate?: Told
  readonly complete?: Told
  readonly enquire?: Told
}

export type AuthenticatorCall = {
  readonly what: 'authenticate' | 'complete' | 'enquire'
  readonly reference: string
  readonly request: AuthenticationRequest
  readonly back?: ShopperReturn
}

/** A proof that no table, log or answer may contain. */
export const secretProof = 'Q0FWVi1mb3ItYS10ZXN0LW9ubHk='
export const testCode = '735'

export const confirmed = (more: object = {}): Authentication => ({
  is: 'authenticated',
  eci: '05',
  verificationId: new Sensitive(secretProof),
  dsTransactionId: '2a8f7c11-96aa-4f6a-a5cd-3b4f8f9c0d11',
  acsTransactionId: 'b1c4f7de-2b0e-4f57-8a55-0f6f1f3f2a22',
  version: '2.2.0',
  ...more,
})

export const issuerPage = { redirect: { url: 'https://issuer.example/challenge' } }
export const challenge = () => ({ is: 'shopper', next: issuerPage }) as const

export type ScriptedAuthenticator = {
  readonly authenticator: Authenticator
  readonly calls: readonly AuthenticatorCall[]
  of(reference: string): string[]
  tell(reference: string, script: AuthenticatorScript): void
}

export const authenticatorName = 'scripted-3ds'

export function scriptedAuthenticator(): ScriptedAuthenticator {
  const scripts = new Map<string, AuthenticatorScript>()
  const calls: AuthenticatorCall[] = []
  const told = (
    what: AuthenticatorCall['what'],
    request: AuthenticationRequest,
    back?: ShopperReturn,
  ): Told => {
    const reference = request.merchantTransactionId ?? ''
    calls.push({ what, reference, request, ...(back === undefined ? {} : { back }) })
    return scripts.get(reference)?.[what] ?? (() => confirmed())
  }
  const authenticator = defineAuthenticator({
    name: authenticatorName,
    title: 'Scripted 3-D Secure server',
    contract: 1,
    supports: { schemes: ['VISA', 'MASTER'], versions: ['2.2.0'], modes: ['INTERNAL'] },
    isEnrolled: ({ number }: Card) => number.reveal() === '4711100000000000',
    authenticate: async (request, context) =>
      (await told('authenticate', request)(request, context)) as Authentication,
    complete: async (request, back, context) =>
      (await told('complete', request, back)(request, context, back)) as Authentication,
    enquire: async (request, context) => told('enquire', request)(request, context),
    inbound: {
      verify: ({ headers }) => headers['x-proof'] === 'genuine',
      parse: ({ body }) => [JSON.parse(body.toString())],
    },
  })
  return {
    authenticator,
    calls,
    of: (reference) =>
      calls.filter((call) => call.reference === reference).map((call) => call.what),
    tell: (reference, script) => void scripts.set(reference, script),
  }
}

export const browser = {
  customer: {
    givenName: 'Ada',
    surname: 'Lovelace',
    browser: {
      acceptHeader: 'text/html',
      language: 'en',
      screenHeight: '900',
      screenWidth: '1400',
      timezone: '-60',
      userAgent: 'Mozilla/5.0',
      javaEnabled: 'false',
    },
  },
  billing: { street1: 'Main Street 1', city: 'Berlin', postcode: '10115', country: 'DE' },
}

export const resultPage = 'https://shop.example/thanks?order=7'

export type AuthenticatingRun = LateRun & {
  readonly authenticator: ScriptedAuthenticator
  readonly authenticatorAccount: string
  /** Fields that send a payment to a channel without 3-D Secure, and to one that goes on without it. */
  readonly off: { readonly entityId: string }
  readonly goesOn: { readonly entityId: string }
  /** A debit of 92.00 EUR whose shopper is present, at the scripted acquirer. */
  authenticated(
    reference: string,
    script?: AuthenticatorScript,
    fields?: Readonly<Record<string, unknown>>,
  ): ReturnType<LateRun['debit']>
  /** The same, for a payment that waits for its shopper: with the token of the way back. */
  away(
    reference: string,
    script: AuthenticatorScript,
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly id: string; readonly token: string }>
  back(id: string, token: string, on?: LateRun['gateway']): Promise<unknown>
  attempt(id: string): Promise<{ stage: string; state: string; lease: number }>
}

/** An engine with the scripted acquirer and authenticator, and 3-D Secure on for its channel. */
export async function startAuthenticating(
  options: TestGatewayOptions & { readonly variants?: Variants } = {},
): Promise<AuthenticatingRun> {
  const authenticator = scriptedAuthenticator()
  const { variants, ...more } = options
  const run = await startLate(variants ?? {}, {
    publicUrl: 'https://pay.example',
    supports: { threeDSecure: 'external' },
    authenticators: [authenticator.authenticator],
    ...more,
  })
  const { entities } = run.gateway
  const connect = (channelId: string, connector: string) =>
    entities.createAccount({ channelId, connector, mode: 'EXTERNAL', settings: {} })
  await entities.configure(run.channel, { threeDSecure: 'on' })
  const authenticatorAccount = await connect(run.channel, authenticatorName)
  const channelWith = async (settings: Record<string, string>) => {
    const name = Object.values(settings).join(' ')
    const id = await entities.create({ kind: 'channel', name, parentId: run.merchant, settings })
    await connect(id, scriptedName)
    await connect(id, authenticatorName)
    return { entityId: id }
  }
  const off = await channelWith({ threeDSecure: 'off' })
  const goesOn = await channelWith({ threeDSecure: 'on', threeDSecureUnavailable: 'continue' })
  const authenticated: AuthenticatingRun['authenticated'] = (
    reference,
    script = {},
    fields = {},
  ) => {
    authenticator.tell(reference, script)
    return run.debit(
      reference,
      {},
      {
        ...card('4200000000000000', { cvv: testCode }),
        shopperResultUrl: resultPage,
        ...browser,
        ...fields,
      },
    )
  }
  return {
    ...run,
    authenticator,
    authenticatorAccount,
    off,
    goesOn,
    authenticated,
    away: async (reference, script, fields) => {
      await authenticated(reference, { authenticate: challenge, ...script }, fields)
      const { returnUrl } = authenticator.calls.find(
        (call) => call.reference === reference,
      )!.request
      const [id = '', token = ''] = returnUrl!.split('/').slice(-2)
      return { id, token }
    },
    back: (id, token, on = run.gateway) =>
      on.shoppers.cameBack(id, token, { method: 'POST', query: {}, form: { cres: 'said' } }),
    attempt: async (id) => {
      const [row] = await run.sql<{ stage: string; state: string; lease: number }>(
        'select stage, state, lease from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row!
    },
  }
}
