/** The rows about 3-D Secure, the same over both transports. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  type Authentication,
  type AuthenticationRequest,
  type Authenticator,
  type AuthenticatorContext,
  type PageReply,
  type RequestFields,
  Sensitive,
} from '@tollgate/plugin-kit'
import { codes, enrolmentOf } from '../../../connectors/simulator/authentication/enrolment.ts'
import { simulatorHttpAuthenticator } from '../../../connectors/simulator/http-connector.ts'
import { createAuthenticator, createSimulatorPlugin } from '../../../connectors/simulator/index.ts'
import { rules } from '../../../connectors/simulator/rules.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import {
  account,
  eventReceiver,
  inProcess,
  merchantAt,
  newKey,
  openRecords,
  payment,
} from './support.ts'

/** A merchant at the issuer, and a browser on its pages. */
type Issuer = {
  readonly clock: { ms: number }
  readonly stored: () => string
  authenticate(request: AuthenticationRequest): Promise<Authentication>
  complete(request: AuthenticationRequest): Promise<Authentication>
  submit(url: string, form: Readonly<Record<string, string>>): Promise<PageReply>
}

const pagesUrl = 'https://pay.example/v1/pages/simulator'

const asked = (number: string, request: RequestFields = {}): AuthenticationRequest => ({
  paymentId: newKey(),
  key: newKey(),
  amount: { minor: 9200n, currency: 'EUR' },
  brand: number.startsWith('5') ? 'MASTER' : 'VISA',
  card: {
    kind: 'card',
    brand: 'VISA',
    number: new Sensitive(number),
    bin: number.slice(0, 6),
    last4: number.slice(-4),
    expiryMonth: '12',
    expiryYear: '2034',
  },
  request,
  isPayment: true,
  shortId: '0000.0000.0000',
  returnUrl: 'https://shop.example/back',
})

const issuerOf = (
  authenticator: Authenticator,
  context: () => AuthenticatorContext,
  parts: Pick<Issuer, 'clock' | 'stored' | 'submit'>,
): Issuer => ({
  ...parts,
  authenticate: (request) => authenticator.authenticate(request, context()),
  complete: (request) => {
    const back = { method: 'POST', query: {}, form: { cres: 'e30' }, refs: {} } as const
    return authenticator.complete(request, back, context())
  },
})

function inside(test: TestContext): Issuer {
  const merchant = inProcess(test, { clock: merchantClock(), records: openRecords() })
  const { pages } = createSimulatorPlugin()
  return issuerOf(createAuthenticator(), () => merchant.context({ pagesUrl }), {
    clock: merchant.clock,
    stored: () => [...merchant.records.stored.values()].join(' '),
    submit: (url, form) =>
      pages!(
        { method: 'POST', path: url.slice(pagesUrl.length), query: {}, form },
        { records: () => merchant.records, clock: { now: () => new Date() } },
      ),
  })
}

const merchantClock = () => {
  const clock = { ms: Date.now(), now: () => new Date(clock.ms) }
  return clock
}

async function behindHttp(test: TestContext, ledger?: string): Promise<Issuer> {
  const server = await startSimulator(ledger === undefined ? {} : { ledger })
  test.after(() => server.close())
  const merchant = merchantAt(test, server.url)
  merchant.clock.ms = Date.now()
  return issuerOf(simulatorHttpAuthenticator, () => merchant.context(), {
    clock: merchant.clock,
    stored: () => '',
    submit: async (url, form) => {
      const body = new URLSearchParams(form)
      const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
      return { status: answer.status, location: answer.headers.get('location') ?? '' }
    },
  })
}

const urlOf = (answer: Authentication) => {
  assert.equal(answer.is, 'shopper', JSON.stringify(answer))
  return answer.is === 'shopper' ? answer.next.redirect.url : ''
}
const custom = (more: Record<string, string>) => ({ customParameters: more })

for (const [transport, open] of [
  ['inside the process', inside],
  ['behind HTTP', (test: TestContext) => behindHttp(test)],
] as const) {
  describe(`the simulated issuer ${transport}`, () => {
    it('the codes of the page end the challenge, each in its way', async (test) => {
      const issuer = await open(test)
      for (const [code, expected] of [
        ['1234', { is: 'authenticated', eci: '05' }],
        [' 12 34 ', { is: 'authenticated', eci: '05' }],
        ['2222', { is: 'attempted', eci: '06' }],
        ['3333', { is: 'failed', status: 'N', reason: '01' }],
        ['4444', { is: 'failed', status: 'R', reason: '11' }],
        ['5555', { is: 'unavailable', reason: '22' }],
      ] as const) {
        const request = asked('4200000000000018')
        const url = urlOf(await issuer.authenticate(request))
        const { status, location } = await issuer.submit(url, { do: 'confirm', code })
        assert.deepEqual([status, location], [303, request.returnUrl])
        const answer = await issuer.complete(request)
        assert.deepEqual({ ...answer, ...expected }, answer, code)
        assert.equal('authType' in answer && answer.authType, '02')
      }
    })

    it('only codes of the table count, and three wrong ones refuse', async (test) => {
      const issuer = await open(test)
      for (const wrong of ['0000', 'cancel', 'none in time', 'three wrong codes', '__proto__']) {
        const request = asked('4200000000000018')
        const url = urlOf(await issuer.authenticate(request))
        for (const code of ['', wrong, wrong]) await issuer.submit(url, { do: 'confirm', code })
        assert.equal((await issuer.complete(request)).is, 'shopper')
        await issuer.submit(url, { do: 'resend', code: wrong })
        await issuer.submit(url, { do: 'confirm', code: wrong })
        const answer = await issuer.complete(request)
        assert.deepEqual({ ...answer, is: 'failed', status: 'N', reason: '19' }, answer)
      }
    })

    it('an answer is final: no second answer on the page changes it', async (test) => {
      const issuer = await open(test)
      const request = asked('4200000000000018')
      const url = urlOf(await issuer.authenticate(request))
      await issuer.submit(url, { do: 'cancel' })
      await issuer.submit(url, { do: 'confirm', code: '1234' })
      assert.equal((await issuer.complete(request)).is, 'cancelled')
      const other = asked('4200000000000018')
      const page = urlOf(await issuer.authenticate(other))
      await issuer.submit(page, { do: 'confirm', code: '1234' })
      await issuer.submit(page, { do: 'cancel' })
      assert.equal((await issuer.complete(other)).is, 'authenticated')
    })

    it('the way of a card follows its row, then the parameters', async (test) => {
      const issuer = await open(test)
      const mandated = { threeDSecure: { challengeIndicator: '04' } }
      for (const [number, request, expected] of [
        ['4711100000000000', {}, 'notEnrolled'],
        ['4711100000000000', custom({ '3DS2_enrolled': 'true' }), 'authenticated'],
        ['4711100000000000', custom({ '3DS2_enrolled': 'false' }), 'notEnrolled'],
        ['4711100000000000', custom({ '3DS2_flow': 'frictionless' }), 'authenticated'],
        ['4711100000000000', custom({ '3DS2_flow': 'challenge' }), 'shopper'],
        ['4200000000000042', custom({ '3DS2_flow': 'frictionless' }), 'authenticated'],
        ['4012001037141112', custom({ '3DS2_flow': 'challenge' }), 'shopper'],
        ['4200000000000091', mandated, 'shopper'],
        ['4711100000000000', mandated, 'notEnrolled'],
        ['4532497088771651', custom({ '3DS2_enrolled': 'true' }), 'authenticated'],
      ] as const) {
        const { is } = await issuer.authenticate(asked(number, request))
        assert.equal(is, expected, `${number} ${JSON.stringify(request)}`)
      }
    })

    it('SIM_TIMEOUT limits the challenge in business time', async (test) => {
      const issuer = await open(test)
      for (const [value, seconds] of [
        ['90', 90],
        ['999999', 3600],
        ['soon', 600],
        [undefined, 600],
      ] as const) {
        const request = asked(
          '4200000000000018',
          value === undefined ? {} : custom({ SIM_TIMEOUT: value }),
        )
        const answer = await issuer.authenticate(request)
        const end = issuer.clock.ms + seconds * 1000
        assert.equal(answer.is === 'shopper' && answer.expiresAt?.getTime(), end)
      }
      const request = asked('4200000000000018', custom({ SIM_TIMEOUT: '90' }))
      const url = urlOf(await issuer.authenticate(request))
      issuer.clock.ms += 90_000
      await issuer.complete(request)
      await issuer.submit(url, { do: 'confirm', code: '1234' })
      const { is } = await issuer.complete(request)
      assert.equal(is, 'shopper', 'the engine ends it; the late code confirms nobody')
    })

    it('values derive from the data: unlike for other data, and never stored', async (test) => {
      const issuer = await open(test)
      const proofs = new Set<string>()
      const numbers = new Set<string>()
      for (const request of [asked('4200000000000091'), asked('4200000000000026')]) {
        for (const one of [request, request, { ...request, key: newKey() }]) {
          const answer = await issuer.authenticate(one)
          assert.ok(answer.is === 'authenticated' && answer.verificationId !== undefined)
          const proof = answer.verificationId.reveal()
          assert.equal(Buffer.from(proof, 'base64').length, 20)
          assert.equal(proof.length, 28)
          assert.ok(!issuer.stored().includes(proof))
          assert.match(answer.dsTransactionId ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
          assert.notEqual(answer.dsTransactionId, answer.acsTransactionId)
          proofs.add(proof)
          numbers.add(answer.dsTransactionId ?? '')
        }
      }
      assert.equal(proofs.size, 4)
      assert.equal(numbers.size, 4)
      for (const number of ['4200000000000091', '4200000000000026']) {
        assert.ok(!issuer.stored().includes(number))
      }
    })

    it('without a shopper a challenge is impossible', async (test) => {
      const issuer = await open(test)
      const { returnUrl: _nobody, ...alone } = asked('4200000000000018')
      assert.equal((await issuer.authenticate(alone)).is, 'unavailable')
      const { returnUrl: _there, ...known } = asked('4200000000000091')
      assert.equal((await issuer.authenticate(known)).is, 'authenticated')
    })

    it('a device step is a precondition until the browser has been seen', async (test) => {
      const issuer = await open(test)
      const request = asked('4200000000000067')
      const answer = await issuer.authenticate(request)
      assert.ok(answer.is === 'shopper')
      const [step, ...others] = answer.next.redirect.preconditions ?? []
      assert.equal(others.length, 0)
      assert.equal(step?.method, 'POST')
      assert.equal(step?.parameters[0]?.name, 'threeDSMethodData')
      await issuer.submit(step!.url, { threeDSMethodData: step!.parameters[0]!.value })
      const later = await issuer.complete(request)
      assert.ok(later.is === 'shopper')
      assert.equal(later.next.redirect.preconditions, undefined)
      const plain = await issuer.authenticate(asked('4200000000000075'))
      assert.ok(plain.is === 'shopper' && plain.next.redirect.preconditions === undefined)
    })
  })
}

describe('the pages of the simulator inside the process', () => {
  it('every process serves the page of a payment, and knows its end', async (test) => {
    const records = openRecords()
    const merchant = inProcess(test, { clock: merchantClock(), records })
    for (const [button, expected] of [
      ['approve', 'approved'],
      ['cancel', '100.396.101'],
    ] as const) {
      const instrument = { kind: 'virtualAccount', brand: 'PAYPAL', accountId: 'jane' } as const
      const operation = payment('debit', {
        instrument,
        brand: 'PAYPAL',
        returnUrl: 'https://shop.example/back',
      })
      const away = await merchant.run(operation, { pagesUrl })
      assert.ok(away.is === 'pending' && typeof away.next === 'object' && 'redirect' in away.next)
      const path = away.next.redirect.url.slice(pagesUrl.length)
      const back = { method: 'GET', query: { status: 'approved' }, form: {}, refs: {} } as const
      const { complete } = merchant.connector
      assert.equal((await complete!(operation, back, merchant.context({ pagesUrl }))).is, 'pending')
      const context = { records: () => records, clock: { now: () => new Date() } }
      const visit = { query: {}, form: {}, acceptLanguage: 'de' } as const
      const { pages } = createSimulatorPlugin()
      const page = await pages!({ ...visit, method: 'GET', path }, context)
      assert.match(page.html ?? '', /Zahlung bestätigen.*92,00/s)
      const sent = await pages!({ ...visit, method: 'POST', path: `${path}/${button}` }, context)
      assert.deepEqual([sent.status, sent.location], [303, operation.returnUrl])
      const end = await complete!(operation, back, merchant.context({ pagesUrl }))
      assert.equal(end.is === 'declined' ? end.reason : end.is, expected)
      const later = await pages!({ ...visit, method: 'GET', path }, context)
      assert.match(later.html ?? '', /Zurück zum Händler/)
    }
    assert.equal(merchant.totals().charged, 9200n)
  })
})

describe('the issuer of the HTTP simulator', () => {
  it('authentications survive the process with its ledger', async (test) => {
    const ledger = join(mkdtempSync(join(tmpdir(), 'issuer-')), 'ledger')
    const request = asked('4200000000000018')
    const first = await startSimulator({ ledger })
    const merchant = merchantAt(test, first.url)
    const url = urlOf(await simulatorHttpAuthenticator.authenticate(request, merchant.context()))
    await fetch(url, { method: 'POST', body: 'do=confirm&code=1234', redirect: 'manual' })
    await first.close()
    const again = await behindHttp(test, ledger)
    assert.equal((await again.complete(request)).is, 'authenticated')
  })

  it('the end of a challenge is told by a signed event', async (test) => {
    const server = await startSimulator()
    test.after(() => server.close())
    const receiver = await eventReceiver(test)
    const merchant = merchantAt(test, server.url)
    const request = asked('4200000000000018')
    const context = merchant.context({ notifyUrl: receiver.url })
    const url = urlOf(await simulatorHttpAuthenticator.authenticate(request, context))
    await fetch(url, { method: 'POST', body: 'do=confirm&code=1', redirect: 'manual' })
    await fetch(url, { method: 'POST', body: 'do=cancel', redirect: 'manual' })
    const [message] = await receiver.received(1)
    const { verify, parse } = simulatorHttpAuthenticator.inbound!
    assert.equal(await verify(message!, context), true)
    const stranger = merchant.context({ account: { ...account, secret: 'another-secret' } })
    assert.equal(await verify(message!, stranger), false)
    assert.deepEqual(await parse(message!, context), [
      { eventId: `${request.key}-cancelled`, key: request.key },
    ])
  })
})

it('every row of the table about 3-D Secure has its effect', () => {
  for (const [sign, values, { authentication }] of rules) {
    if (authentication === undefined || values === 'otherwise') continue
    for (const value of values) {
      if (sign === 'number') {
        const { enrolled, flow, status, deviceStep } = enrolmentOf(value, [])
        const found = { enrolled, flow, status, deviceStep }
        const { eci: _shown, ends: _too, ...row } = authentication
        assert.deepEqual({ ...found, ...row }, found, value)
      } else if (sign === 'challengeCode' && /^[0-9]+$/.test(value)) {
        assert.ok(
          codes.some(([code, status]) => code === value && status === authentication.status),
        )
      }
    }
  }
})
