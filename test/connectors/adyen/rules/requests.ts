/** Rules about requests to Adyen. */
import assert from 'node:assert/strict'
import { type Operation, Sensitive } from '@tollgate/plugin-kit'
import { amountFor, moneyOf } from '../../../../connectors/adyen/money.ts'
import { frozen, operationOn } from '../../../../plugins/kit/testing/operation.ts'
import { has, type Scene, withInstrument } from '../scene.ts'
import { mistake, type Rule } from './rule.ts'

/** What Adyen gets of an operation. */
async function sentFor(scene: Scene, operation: Operation) {
  await scene.stage.perform(operation)
  return scene.sent()
}

const browser = {
  acceptHeader: 'text/html',
  language: 'en',
  screenHeight: '1080',
  screenWidth: '1920',
  timezone: '-60',
  userAgent: 'Mozilla/5.0',
  javaEnabled: 'false',
  screenColorDepth: '24',
}
const billing = { street1: 'Main Street', city: 'York', postcode: 'YO1', country: 'GB' }

export const requestRules: readonly Rule[] = [
  {
    rule: 'an authorisation waits for its capture, a sale is captured at once, and a check is for nothing',
    async run(scene) {
      const { first } = scene
      const authorised = await sentFor(scene, first('authorize'))
      has(
        authorised,
        { additionalData: { manualCapture: 'true' }, captureDelayHours: undefined },
        'PA',
      )
      has(
        authorised,
        { amount: { value: 9200, currency: 'EUR' }, merchantAccount: 'TestMerchant' },
        'PA',
      )
      has(
        await sentFor(scene, first('debit')),
        { captureDelayHours: 0, additionalData: undefined },
        'DB',
      )
      has(await sentFor(scene, first('verify')), { amount: { value: 0, currency: 'EUR' } }, 'RG')
    },
    mistakes: [
      mistake('requests', "{ additionalData: { manualCapture: 'true' } }", '{}'),
      mistake('requests', "kind === 'debit' ? { captureDelayHours: 0 } : {}", '{}'),
      mistake('requests', 'isCheck ? { ...amount, minor: 0n } : amount', 'amount'),
    ],
  },
  {
    rule: 'a payment of the merchant names its kind of agreement and the scheme’s reference of the first one',
    async run(scene) {
      const { first } = scene
      const agreement = (type: string, more: object = {}) =>
        first('debit', undefined, {
          standingInstruction: {
            source: 'MIT',
            mode: 'REPEATED',
            type,
            initialTransactionId: 'MCC123',
            ...more,
          },
          customer: { merchantCustomerId: 'c-1' },
        })
      const models = {
        RECURRING: 'Subscription',
        INSTALLMENT: 'Subscription',
        UNSCHEDULED: 'UnscheduledCardOnFile',
      }
      for (const [type, recurringProcessingModel] of Object.entries(models)) {
        const sent = await sentFor(scene, agreement(type))
        has(
          sent,
          { shopperInteraction: 'ContAuth', recurringProcessingModel, shopperReference: 'c-1' },
          type,
        )
        has(sent, { authenticationData: undefined, channel: undefined }, 'no shopper is there')
        has(sent.paymentMethod, { networkPaymentReference: 'MCC123' }, type)
      }
      const first1 = await sentFor(
        scene,
        agreement('RECURRING', { source: 'CIT', mode: 'INITIAL' }),
      )
      has(
        first1,
        { shopperInteraction: 'Ecommerce', recurringProcessingModel: 'Subscription' },
        'first',
      )
      const original = await scene.paid('debit')
      const { original: on } = operationOn(scene.stage.connector, 'refund', original)
      const again = await sentFor(scene, frozen({ ...first('debit'), original: on! }))
      has(again, { shopperInteraction: 'ContAuth' }, 'a rebill')
      assert.match(Object(again.paymentMethod).networkPaymentReference, /^MCC/)
    },
    mistakes: [
      mistake('requests', "? 'ContAuth' : 'Ecommerce'", "? 'Ecommerce' : 'Ecommerce'"),
      mistake('requests', "RECURRING: 'Subscription'", "RECURRING: 'CardOnFile'"),
      mistake('requests', "INSTALLMENT: 'Subscription'", "INSTALLMENT: 'CardOnFile'"),
      mistake('requests', "UNSCHEDULED: 'UnscheduledCardOnFile'", "UNSCHEDULED: 'CardOnFile'"),
      mistake('requests', "=== 'MIT' || original !== undefined", "=== 'MIT'"),
      mistake('requests', '?? original?.networkTxId', ''),
      mistake('requests', "text(request.standingInstruction, 'initialTransactionId') ??", ''),
      mistake('requests', 'if (isByMerchant(operation)) return {}', ''),
      mistake('requests', "isByMerchant(operation) ? undefined : 'Web'", "'Web'"),
      mistake('requests', "shopperReference: text(request.customer, 'merchantCustomerId'),", ''),
    ],
  },
  {
    rule: 'a network token goes with its cryptogram, and values of an authentication elsewhere go as they are',
    async run(scene) {
      const proof = 'AAABBBCCCDDDEEEFFFGGGHHHIII='
      const threeDSecure = { eci: '05', verificationId: new Sensitive(proof) }
      const token = withInstrument(scene.first('debit'), { numberType: 'DPAN' })
      const sent = await sentFor(scene, frozen({ ...token, threeDSecure }))
      has(sent.paymentMethod, { type: 'networkToken' }, 'DPAN')
      assert.deepEqual(sent.mpiData, { tokenAuthenticationVerificationValue: proof, eci: '05' })
      has(sent, { authenticationData: undefined }, 'nobody is authenticated twice')
      const values = {
        ...threeDSecure,
        authenticationStatus: 'Y',
        dsTransactionId: 'ds-1',
        version: '2.2.0',
      }
      const external = await sentFor(
        scene,
        frozen({ ...scene.first('debit'), threeDSecure: values }),
      )
      assert.deepEqual(external.mpiData, {
        cavv: proof,
        eci: '05',
        directoryResponse: 'Y',
        authenticationResponse: 'Y',
        dsTransID: 'ds-1',
        threeDSVersion: '2.2.0',
      })
      has(external, { authenticationData: { attemptAuthentication: 'never' } }, 'external')
      has(external.paymentMethod, { type: 'scheme' }, 'PAN')
    },
    mistakes: [
      mistake('requests', "numberType === 'DPAN' ? 'networkToken' : 'scheme'", "'scheme'"),
      mistake(
        'requests',
        "if (numberType === 'DPAN') { return { mpiData: { tokenAuthenticationVerificationValue: verificationId, eci } } }",
        '',
      ),
      mistake('requests', 'cavv: verificationId,', ''),
      mistake('requests', 'dsTransID: dsTransactionId,', ''),
      mistake('requests', 'threeDSVersion: version,', ''),
      mistake('requests', 'directoryResponse: status,', ''),
      mistake(
        'requests',
        "authenticationData: { attemptAuthentication: 'never' }, mpiData",
        'mpiData',
      ),
    ],
  },
  {
    rule: 'Adyen authenticates on its own page where the shopper can come back, and nowhere else',
    async run(scene) {
      const { returnUrl, ...operation } = scene.first('debit')
      const sent = await sentFor(scene, scene.first('debit'))
      has(
        sent,
        {
          returnUrl,
          channel: 'Web',
          authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' } },
        },
        'with a way back',
      )
      const without = await sentFor(scene, frozen(operation))
      has(without, { authenticationData: { attemptAuthentication: 'never' } }, 'without a way back')
      assert.ok(URL.canParse(String(without.returnUrl)), 'the API wants an address')
    },
    mistakes: [
      mistake('requests', "{ threeDSRequestData: { nativeThreeDS: 'disabled' } }", '{}'),
      mistake(
        'requests',
        "if (returnUrl === undefined) return { authenticationData: { attemptAuthentication: 'never' } }",
        '',
      ),
      mistake(
        'requests',
        "returnUrl: returnUrl ?? 'https://return.invalid/',",
        "returnUrl: 'https://return.invalid/',",
      ),
    ],
  },
  {
    rule: 'shopper, browser and address reach Adyen as a whole or not at all',
    async run(scene) {
      const customer = { email: 'jane@example.com', ip: '192.0.2.1', browser }
      const sent = await sentFor(scene, scene.first('debit', undefined, { customer, billing }))
      has(sent, { shopperEmail: 'jane@example.com', shopperIP: '192.0.2.1' }, 'shopper')
      assert.deepEqual(sent.browserInfo, {
        acceptHeader: 'text/html',
        colorDepth: 24,
        javaEnabled: false,
        language: 'en',
        screenHeight: 1080,
        screenWidth: 1920,
        timeZoneOffset: -60,
        userAgent: 'Mozilla/5.0',
      })
      assert.deepEqual(sent.billingAddress, {
        street: 'Main Street',
        houseNumberOrName: 'N/A',
        city: 'York',
        postalCode: 'YO1',
        country: 'GB',
      })
      for (const name of Object.keys(billing)) {
        const part = await sentFor(
          scene,
          scene.first('debit', undefined, { billing: { ...billing, [name]: undefined } }),
        )
        has(part, { billingAddress: undefined }, `without ${name}`)
      }
      const { userAgent: _, ...half } = browser
      has(
        await sentFor(scene, scene.first('debit', undefined, { customer: { browser: half } })),
        { browserInfo: undefined },
        'half a browser',
      )
    },
    mistakes: [
      mistake('requests', "shopperEmail: text(customer, 'email'),", ''),
      mistake('requests', "shopperIP: text(customer, 'ip'),", ''),
      mistake('requests', 'Object.values(all).includes(undefined) ? undefined : all', 'all'),
      mistake('requests', 'if (!street || !city || !postalCode || !country) return undefined', ''),
      mistake(
        'requests',
        "text(browser, 'javaEnabled') === 'true'",
        "text(browser, 'javaEnabled') as never",
      ),
    ],
  },
  {
    rule: 'a statement has 22 characters that Adyen allows',
    async run(scene) {
      const { first } = scene
      const of = async (descriptor: string) =>
        (await sentFor(scene, frozen({ ...first('debit'), descriptor }))).shopperStatement
      assert.equal(await of('Shop & Sons <2> "best offers"'), 'Shop   Sons  2   best')
      assert.equal(await of('&&&'), undefined)
      assert.equal(await of("A-b.c,d'e_f?g+h*i/1"), "A-b.c,d'e_f?g+h*i/1")
    },
    mistakes: [
      mistake('requests', '.slice(0, 22)', ''),
      mistake('requests', "?.replaceAll(/[^a-zA-Z0-9 .,'_?+*/-]/g, ' ') .slice", '?.slice'),
      mistake('requests', "plain === '' ? undefined : plain", 'plain'),
    ],
  },
  {
    rule: 'amounts have the decimals of Adyen, where they differ from ISO 4217, in both directions',
    async run(scene) {
      const { stage, first } = scene
      const amounts: readonly [string, bigint, number][] = [
        ['EUR', 9200n, 9200],
        ['JPY', 5000n, 5000],
        ['KWD', 9255n, 9255],
        ['CLP', 5000n, 500_000],
        ['ISK', 2790n, 279_000],
        ['CVE', 5000n, 50],
        ['IDR', 5_000_000n, 50_000],
      ]
      for (const [currency, minor, value] of amounts) {
        const operation = frozen({ ...first('debit'), amount: { minor, currency } })
        const { outcome } = await stage.perform(operation)
        has(scene.sent(), { amount: { value, currency } }, currency)
        assert.equal(outcome.is, 'approved', currency)
        assert.equal('amount' in outcome, false, `${currency}: no other amount`)
        const message = scene.adyen.messageAbout(operation.key)
        const [claim] = await scene.tell(message)
        assert.deepEqual(claim?.amount, { minor, currency }, `the webhook in ${currency}`)
      }
      // Not a whole unit there, and too large for a JSON number: nothing is sent.
      for (const amount of [
        { minor: 5001n, currency: 'CVE' },
        { minor: 2n ** 60n, currency: 'EUR' },
      ]) {
        const { outcome, attempts } = await stage.perform(frozen({ ...first('debit'), amount }))
        assert.equal(outcome.is, 'notSent', String(amount.minor))
        assert.equal(attempts.length, 0)
      }
      assert.deepEqual(moneyOf(amountFor({ minor: 7n, currency: 'ISK' })), {
        minor: 7n,
        currency: 'ISK',
      })
      assert.equal(moneyOf({ value: 701, currency: 'ISK' }), undefined)
    },
    mistakes: [
      ...['CLP: 2', 'CVE: 0', 'IDR: 0', 'ISK: 2'].map((row) =>
        mistake(
          'money',
          row,
          row.replace(/.$/, (digit) => (digit === '2' ? '0' : '2')),
        ),
      ),
      mistake('money', 'if (shift < 0 && minor % unit !== 0n) {', 'if (false) {'),
      mistake(
        'money',
        "if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the amount is too large for Adyen')",
        '',
      ),
      mistake('money', 'shift > 0 ? minor / unit : minor * unit', 'minor'),
    ],
  },
  {
    rule: 'what is done to a payment goes to the payment, also from a capture',
    async run(scene) {
      const { stage, paid, follow, adyen } = scene
      const paths = () => adyen.exchanges.at(-1)!.path.replace(/^\/v71\/payments\/\w{16}\//, '')
      const authorised = await paid('authorize')
      const captured = await follow('capture', authorised)
      assert.equal(paths(), 'captures')
      await follow('refund', captured, 100n)
      assert.equal(paths(), 'refunds')
      assert.ok(adyen.exchanges.at(-1)!.path.includes(authorised.outcome.refs.payment!))
      await follow('reverse', await paid('authorize'))
      assert.equal(paths(), 'cancels')
      await follow('reverse', await paid('debit'))
      assert.equal(paths(), 'reversals')
      const before = adyen.exchanges.length
      const { outcome, moved } = await stage.perform(
        operationOn(stage.connector, 'reverse', captured),
      )
      has(
        { ...outcome, moved },
        { is: 'declined', reason: '700.300.800', moved: false },
        'a capture is not reversed',
      )
      const { original, ...rest } = operationOn(stage.connector, 'refund', authorised, 100n)
      const unnamed = { ...rest, original: { ...original!, key: 'of-nobody', refs: {} } }
      const lacking = await stage.perform(unnamed)
      has(
        { ...lacking.outcome, moved: lacking.moved },
        { is: 'declined', reason: '900.100.202', moved: false },
        'a payment without a reference of Adyen cannot be named',
      )
      assert.equal(adyen.exchanges.length, before, 'a reversal of all captures would be too much')
    },
    mistakes: [
      mistake('requests', "on === 'authorize' ? 'cancels' : 'reversals'", "'cancels'"),
      mistake('requests', "on === 'authorize' ? 'cancels' : 'reversals'", "'reversals'"),
      mistake('index', "original?.kind !== 'authorize' && original?.kind !== 'debit'", 'false'),
      mistake('requests', 'if (payment === undefined)', 'if (false)'),
      mistake(
        'requests',
        'const payment = original?.refs.payment',
        'const payment = original?.refs.modification ?? original?.refs.payment',
      ),
    ],
  },
  {
    rule: 'an increase is sent as the new sum, one at a time, and its event means the increase',
    async run(scene) {
      const { stage, paid, adyen, tell } = scene
      const authorised = await paid('authorize')
      const plain = operationOn(stage.connector, 'increment', authorised, 800n)
      const withSums = (authorisedMinor: bigint, increasing: bigint) =>
        frozen({
          ...plain,
          original: {
            ...plain.original!,
            authorised: { minor: authorisedMinor, currency: 'EUR' },
            increasing: { minor: increasing, currency: 'EUR' },
          },
        })
      const two = await stage.perform(withSums(9200n, 1300n))
      has(
        { ...two.outcome, moved: two.moved },
        { is: 'declined', reason: '700.300.300', moved: false },
        'two at once',
      )
      const one = withSums(9700n, 800n)
      has((await stage.perform(one)).outcome, { is: 'pending' }, 'one')
      has(scene.sent(), { amount: { value: 10_500, currency: 'EUR' } }, 'the new sum')
      const [claim] = await tell(adyen.messageAbout(`ia.${one.key}`))
      assert.equal(claim?.outcome.is, 'approved')
      assert.deepEqual(claim?.amount, { minor: 800n, currency: 'EUR' })
      const { authorised: _, ...unknownSum } = withSums(9700n, 800n).original!
      const blind = await stage.perform(frozen({ ...plain, original: unknownSum }))
      assert.equal(blind.outcome.is, 'notSent', 'without the sum nothing is sent')
    },
    mistakes: [
      mistake('requests', 'authorised.minor + amount.minor', 'amount.minor'),
      mistake('index', 'increasing !== undefined && increasing.minor > amount.minor', 'false'),
      mistake('modifications', 'BigInt(known.minor) + sum - BigInt(known.sum)', 'sum'),
      mistake(
        'index',
        "if (operation.kind === 'increment') await rememberIncrease(records, operation)",
        '',
      ),
      mistake(
        'requests',
        "if (authorised === undefined) throw new Error('an increase at Adyen needs the authorised sum')",
        'if (authorised === undefined) return { merchantAccount, amount: amountFor(amount), reference }',
      ),
    ],
  },
  {
    rule: 'every operation has its own name at Adyen, and its key in the header',
    async run(scene) {
      const { paid, follow, adyen } = scene
      const authorised = await paid('authorize')
      assert.equal(scene.sent().reference, authorised.operation.key)
      const marks = { capture: 'cp', refund: 'rf', reverse: 'rv' } as const
      const sale = await paid('debit')
      for (const [kind, mark] of Object.entries(marks)) {
        const on = kind === 'capture' ? authorised : kind === 'refund' ? sale : await paid('debit')
        const { operation } = await follow(kind as 'capture', on)
        const whole = kind === 'reverse' ? '9200EUR' : ''
        assert.equal(scene.sent().reference, `${mark}${whole}.${operation.key}`)
      }
      assert.equal(adyen.exchanges.length, 6)
    },
    mistakes: [
      mistake(
        'references',
        'if (!isModification(kind)) return key',
        'if (isModification(kind) || kind) return key',
      ),
      mistake('references', "refund: 'rf'", "refund: 'cp'"),
    ],
  },
  {
    rule: 'a live account has the addresses of its prefix, and sends nothing without it',
    async run({ stage, first, settings }) {
      const { connector } = stage
      const live = (account: object) =>
        stage.call((context) => connector.debit!(first('debit'), { ...context, mode: 'LIVE' }), {
          account: account as never,
        })
      const { attempts } = await live({ ...settings, livePrefix: '1797a841fbb37ca7-AdyenDemo' })
      assert.equal(
        attempts[0]?.written?.url.href,
        'https://1797a841fbb37ca7-adyendemo-checkout-live.adyenpayments.com/checkout/v71/payments',
      )
      const without = await live(settings)
      assert.equal(without.attempts.length, 0)
      assert.ok(without.thrown instanceof Error)
    },
    mistakes: [
      mistake('index', "if (mode !== 'LIVE') {", 'if (true) {'),
      mistake(
        'index',
        "if (livePrefix === undefined) throw new Error('a live account needs the setting livePrefix')",
        '',
      ),
    ],
  },
]
