/** Shoppers are authenticated before the money, and an acquirer hears of a payment only afterwards. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type AuthenticatingRun,
  authenticatorName,
  browser,
  challenge,
  confirmed,
  issuerPage,
  resultPage,
  secretProof,
  startAuthenticating,
  testCode,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { charged } from '../../rig/late-words.ts'

describe('authentication before the money', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  const codeOf = async (reference: string, ...more: [object?, object?]) => {
    const view = await run.authenticated(reference, ...(more as []))
    return view.result.code
  }

  test('a confirmed shopper pays at once, with the values of the authentication', async () => {
    const view = await run.authenticated('frictionless')
    assert.equal(view.result.code, charged)
    assert.deepEqual(view.threeDSecure, {
      eci: '05',
      dsTransactionId: '2a8f7c11-96aa-4f6a-a5cd-3b4f8f9c0d11',
      acsTransactionId: 'b1c4f7de-2b0e-4f57-8a55-0f6f1f3f2a22',
      version: '2.2.0',
      authenticationStatus: 'Y',
    })
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'frictionless')
    assert.equal(call!.operation.threeDSecure?.verificationId?.reveal(), secretProof)
    assert.equal(call!.operation.threeDSecure?.eci, '05')
    const { instrument } = call!.operation
    assert.equal(instrument?.kind === 'card' ? instrument.cvv?.reveal() : '', testCode)
    const [asked] = run.authenticator.calls.filter(({ reference }) => reference === 'frictionless')
    assert.deepEqual(asked!.request.amount, { minor: 9200n, currency: 'EUR' })
    assert.equal(asked!.request.card?.cvv, undefined)
    assert.equal(asked!.request.card?.number.reveal(), '4200000000000000')
    assert.equal(asked!.request.isPayment, true)
    assert.match(asked!.request.returnUrl ?? '', /^https:\/\/pay\.example\/v1\/return\//)
    assert.deepEqual(await run.attempt(view.id), { stage: 'money', state: 'approved', lease: 2 })
  })

  test('an attempted authentication pays, and one for information pays without shift', async () => {
    const attempted = () => confirmed({ is: 'attempted', eci: '06' })
    const view = await run.authenticated('attempted', { authenticate: attempted })
    assert.equal(view.result.code, charged)
    assert.equal((view.threeDSecure as { authenticationStatus: string }).authenticationStatus, 'A')
    const informational = confirmed({
      is: 'informational',
      eci: undefined,
      verificationId: undefined,
    })
    await run.authenticated('informational', { authenticate: () => informational })
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'informational')
    assert.equal(call!.operation.threeDSecure?.authenticationStatus, 'I')
    assert.equal(call!.operation.threeDSecure?.verificationId, undefined)
  })

  for (const [what, said, code] of [
    ['N', { is: 'failed', status: 'N', reason: '11' }, '100.380.401'],
    ['R', { is: 'failed', status: 'R', reason: '12' }, '100.380.401'],
    ['a cancelled challenge', { is: 'cancelled' }, '100.396.101'],
    ['U', { is: 'unavailable', reason: '01' }, '100.390.112'],
    ['another amount', confirmed({ amount: { minor: 9199n, currency: 'EUR' } }), '100.390.101'],
    ['another currency', confirmed({ amount: { minor: 9200n, currency: 'USD' } }), '100.390.101'],
  ] as const) {
    test(`${what} declines with ${code}, and no acquirer hears of it`, async () => {
      const reference = `declined by ${what}`
      const view = await run.authenticated(reference, { authenticate: () => said })
      assert.equal(view.result.code, code)
      const { transactionStatusReason } = view.threeDSecure as Record<string, string>
      if ('reason' in said) assert.equal(transactionStatusReason, said.reason)
      assert.deepEqual(run.acquirer.of(reference), [])
      assert.deepEqual(await run.timers(view.id), [])
    })
  }

  test('U goes on without values where the channel says so', async () => {
    const script = { authenticate: () => ({ is: 'unavailable' }) as const }
    assert.equal(await codeOf('goes-on-without', script, run.goesOn), charged)
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'goes-on-without')
    assert.equal(call!.operation.threeDSecure, undefined)
  })

  test('a card that takes no part goes on without values, whatever the channel says of U', async () => {
    const script = { authenticate: () => ({ is: 'notEnrolled', version: '2.2.0' }) as const }
    const channels = [
      ['takes-no-part', {}],
      ['takes-no-part-goes-on', run.goesOn],
    ] as const
    for (const [reference, fields] of channels) {
      const view = await run.authenticated(reference, script, fields)
      assert.equal(view.result.code, charged)
      assert.deepEqual(view.threeDSecure, {
        version: '2.2.0',
        authenticationStatus: 'U',
        transactionStatusReason: '13',
      })
      const [call] = run.acquirer.calls.filter((one) => one.reference === reference)
      assert.equal(call!.operation.threeDSecure, undefined)
    }
  })

  test('less than is charged was authenticated: declined', async () => {
    assert.equal(await codeOf('less-than-paid', {}, { risk: { amount: '91.99' } }), '100.390.101')
    assert.equal(await codeOf('more-than-paid', {}, { risk: { amount: '120.00' } }), charged)
    const [asked] = run.authenticator.calls.filter(
      ({ reference }) => reference === 'more-than-paid',
    )
    assert.deepEqual(asked!.request.amount, { minor: 12000n, currency: 'EUR' })
  })

  test('a challenge waits for the shopper, then pays with the code of the card', async () => {
    const { id, token } = await run.away('challenged', {})
    const before = await run.gateway.payments.get(id)
    assert.equal(before.result.code, '000.200.000')
    assert.deepEqual(before.redirect, issuerPage.redirect)
    assert.deepEqual(run.acquirer.of('challenged'), [])
    assert.deepEqual(await run.attempt(id), { stage: 'authentication', state: 'pending', lease: 1 })
    assert.deepEqual(await run.timers(id), ['expire'])
    assert.deepEqual(await run.back(id, token), {
      to: 'merchant',
      location: `${resultPage}&id=${id}&resourcePath=%2Fv1%2Fpayments%2F${id}`,
    })
    const view = await run.gateway.payments.get(id)
    assert.equal(view.result.code, charged)
    assert.equal(view.redirect, undefined)
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'challenged')
    const { instrument, threeDSecure } = call!.operation
    assert.equal(instrument?.kind === 'card' ? instrument.number.reveal() : '', '4200000000000000')
    assert.equal(instrument?.kind === 'card' ? instrument.cvv?.reveal() : '', testCode)
    assert.equal(threeDSecure?.verificationId?.reveal(), secretProof)
    const [, back] = run.authenticator.calls.filter(({ reference }) => reference === 'challenged')
    assert.deepEqual(back!.back?.form, { cres: 'said' })
    assert.deepEqual(await run.timers(id), [])
  })

  test('another process authorises without the code', async () => {
    const { id, token } = await run.away('other-process', {})
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    await run.back(id, token, other)
    assert.equal(await run.code(id), charged)
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'other-process')
    const { instrument } = call!.operation
    assert.equal(instrument?.kind === 'card' ? instrument.cvv : 'none', undefined)
    await other.close()
  })

  test('a device step leads on to the challenge, and the challenge to the merchant', async () => {
    const next = { redirect: { url: 'https://issuer.example/second', method: 'POST' as const } }
    let step = 0
    const { id, token } = await run.away('two-steps', {
      authenticate: () => ({
        is: 'shopper',
        next: {
          redirect: {
            url: 'https://issuer.example/first',
            preconditions: [
              {
                origin: 'https://issuer.example',
                waitUntil: 'iframe#onload',
                method: 'POST',
                url: 'https://issuer.example/device',
                parameters: [{ name: 'threeDSMethodData', value: 'abc' }],
              },
            ],
          },
        },
        memo: { step: 1 },
      }),
      complete: () => {
        step += 1
        return step === 1 ? { is: 'shopper', next, memo: { step: 2 } } : confirmed()
      },
    })
    const { redirect } = await run.gateway.payments.get(id)
    assert.equal((redirect as { preconditions: unknown[] }).preconditions.length, 1)
    assert.deepEqual(await run.back(id, token), { to: 'next', redirect: next.redirect })
    assert.equal(await run.stateOf(id), 'pending')
    await run.back(id, token)
    assert.equal(await run.code(id), charged)
    const memos = run.authenticator.calls
      .filter(({ reference, what }) => reference === 'two-steps' && what === 'complete')
      .map(({ back }) => back?.memo)
    assert.deepEqual(memos, [{ step: 1 }, { step: 2 }])
  })

  test('a shopper who comes back too early goes to the merchant, and may finish later', async () => {
    let isDone = false
    const complete = () => (isDone ? confirmed() : challenge())
    const { id, token } = await run.away('too-early', { complete })
    assert.equal(((await run.back(id, token)) as { to: string }).to, 'merchant')
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(await run.timers(id), ['expire'])
    isDone = true
    await run.back(id, token)
    assert.equal(await run.code(id), charged)
  })

  test('a decoupled authentication is asked for until the issuer knows', async () => {
    let asked = 0
    run.authenticator.tell('decoupled', {
      authenticate: () => ({ is: 'decoupled', poll: 1000 }),
      enquire: () => {
        asked += 1
        return asked === 1 ? { is: 'decoupled', poll: 1000 } : confirmed()
      },
    })
    const { id } = await run.debit(
      'decoupled',
      {},
      {
        shopperResultUrl: resultPage,
        ...browser,
      },
    )
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(await run.timers(id), ['expire', 'look'])
    await run.event(id, 'payment.approved')
    assert.equal(asked, 2)
    assert.deepEqual(run.acquirer.of('decoupled'), ['debit'])
  })

  test('a lost answer is asked for once, and then counts as unavailable', async () => {
    const lost = () => {
      throw new Error('no line')
    }
    assert.equal(await codeOf('lost-and-found', { authenticate: lost }), charged)
    assert.deepEqual(run.authenticator.of('lost-and-found'), ['authenticate', 'enquire'])
    const gone = { authenticate: lost, enquire: () => ({ is: 'notFound' }) as const }
    assert.equal(await codeOf('not-found', gone), '100.390.112')
    assert.deepEqual(run.acquirer.of('not-found'), [])
  })

  test('payments without a shopper or a browser, and with external values, go straight on', async () => {
    const { customer: _, ...address } = browser
    const cases = {
      'without-page': { shopperResultUrl: undefined },
      'no-browser': { customer: undefined, ...address },
      external: {
        threeDSecure: { eci: '05', verificationId: 'AAACAgSRBklmQCFgMpEGAAAAAAA=' },
      },
      merchant: { standingInstruction: { source: 'MIT', mode: 'REPEATED', type: 'RECURRING' } },
      indicator: { shopperResultUrl: undefined, threeDSecure: { challengeIndicator: '03' } },
    }
    for (const [reference, fields] of Object.entries(cases)) {
      assert.equal(await codeOf(reference, {}, fields), charged, reference)
      assert.deepEqual(run.authenticator.of(reference), [], reference)
    }
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'external')
    assert.equal(call!.operation.threeDSecure?.eci, '05')
  })

  test('an asked authentication needs the browser and the address', async () => {
    await assert.rejects(
      run.authenticated(
        'incomplete',
        {},
        {
          customer: undefined,
          threeDSecure: { authenticationInd: 'PAYMENT' },
        },
      ),
      ({ parameterErrors }: { parameterErrors: { name: string }[] }) => {
        assert.ok(parameterErrors.some(({ name }) => name === 'customer.browser.userAgent'))
        return true
      },
    )
    assert.equal(
      await codeOf('complete', {}, { threeDSecure: { authenticationInd: 'PAYMENT' } }),
      charged,
    )
    assert.deepEqual(run.authenticator.of('complete'), ['authenticate'])
  })

  test('an asked authentication is refused by name where it is off', async () => {
    await assert.rejects(
      run.authenticated(
        'switched-off',
        {},
        { ...run.off, threeDSecure: { authenticationInd: 'PAYMENT' } },
      ),
      ({ code, parameterErrors }: { code: string; parameterErrors: { name: string }[] }) => {
        assert.equal(code, '600.200.200')
        assert.deepEqual(
          parameterErrors.map(({ name }) => name),
          ['threeDSecure.authenticationInd'],
        )
        return true
      },
    )
    assert.equal(await codeOf('off-plain', {}, run.off), charged)
    assert.deepEqual(run.authenticator.of('off-plain'), [])
  })

  test('a test card that takes part needs the browser, if its shopper can come back', async () => {
    const enrolled = { ...card('4711100000000000'), customer: undefined }
    await assert.rejects(
      run.authenticated('enrolled-incomplete', {}, enrolled),
      ({ parameterErrors }: { parameterErrors: { name: string }[] }) =>
        parameterErrors.some(({ name }) => name === 'customer.browser.userAgent'),
    )
    const withoutPage = { ...enrolled, shopperResultUrl: undefined }
    assert.equal(await codeOf('enrolled-without-page', {}, withoutPage), charged)
    assert.deepEqual(run.authenticator.of('enrolled-without-page'), [])
    assert.equal(await codeOf('enrolled-complete', {}, card('4711100000000000')), charged)
    assert.deepEqual(run.authenticator.of('enrolled-complete'), ['authenticate'])
  })

  test('a card of another scheme goes straight on, and cannot ask', async () => {
    const amex = { ...card('377777777777770', { cvv: '1234' }), paymentBrand: 'AMEX' }
    assert.equal(await codeOf('another-scheme', {}, amex), charged)
    assert.deepEqual(run.authenticator.of('another-scheme'), [])
    const asking = { ...amex, threeDSecure: { authenticationInd: 'PAYMENT' } }
    await assert.rejects(
      run.authenticated('another-scheme-asks', {}, asking),
      ({ code }: { code: string }) => code === '600.200.200',
    )
    assert.deepEqual(run.acquirer.of('another-scheme-asks'), [])
  })

  test('an authentication by the merchant alone has no way back, so a challenge is unavailable', async () => {
    const byMerchant = {
      standingInstruction: { source: 'MIT', mode: 'REPEATED', type: 'RECURRING' },
      threeDSecure: { threeRIInd: 'RECURRING', channel: '03' },
    }
    assert.equal(await codeOf('by-merchant-alone', {}, byMerchant), charged)
    const [asked] = run.authenticator.calls.filter((one) => one.reference === 'by-merchant-alone')
    assert.equal(asked!.request.returnUrl, undefined)
    const challenged = await codeOf(
      'by-merchant-challenged',
      { authenticate: challenge },
      byMerchant,
    )
    assert.equal(challenged, '100.390.112')
  })

  test('wishes and exemptions reach the authenticator and the acquirer', async () => {
    const threeDSecure = {
      challengeIndicator: '03',
      exemptionFlag: '02',
      schemeData: { 'CB-USECASE': '01' },
      v2: { visa: { requestorId: 'requestor-1' } },
      deviceInfo: 'eyJkZXZpY2UiOiJ4In0=',
    }
    await run.authenticated('with-wishes', {}, { threeDSecure })
    const [asked] = run.authenticator.calls.filter((one) => one.reference === 'with-wishes')
    const [sent] = run.acquirer.calls.filter((one) => one.reference === 'with-wishes')
    const { deviceInfo, ...wishes } = threeDSecure
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
    assert.deepEqual(plain(asked!.request.request.threeDSecure), wishes)
    assert.equal(asked!.request.deviceInfo?.reveal(), deviceInfo)
    assert.deepEqual(plain(sent!.operation.request.threeDSecure), threeDSecure)
  })

  test('a two-step payment is captured after the challenge', async () => {
    const { id, token } = await run.away('two-step-sale', {}, { paymentType: 'PA.CP' })
    await run.back(id, token)
    assert.deepEqual(run.acquirer.of('two-step-sale'), ['authorize', 'capture'])
    const sale = await run.authenticated('two-step-at-once', {}, { paymentType: 'PA.CP' })
    assert.equal(sale.paymentType, 'CP')
    assert.equal((sale.threeDSecure as { eci: string }).eci, '05')
    assert.equal(
      ((await run.gateway.payments.get(sale.id)).threeDSecure as { eci: string }).eci,
      '05',
    )
  })

  test('the steps tell of the authentication, without its proof', async () => {
    const { id, token } = await run.away('told-in-steps', {})
    await run.back(id, token)
    const steps = await run.gateway.payments.steps(id)
    const names = JSON.stringify(steps)
    assert.match(names, /"accepted".*"authenticate".*"completeAuthentication".*"debit"/)
    assert.match(names, /"authenticate"/)
    assert.match(names, /"completeAuthentication"/)
    assert.doesNotMatch(names, new RegExp(secretProof))
  })

  test('the account at the authenticator is no acquirer', async () => {
    const [row] = await run.sql<{ connector: string }>(
      'select connector from tollgate.merchant_account where id = $1',
      [run.authenticatorAccount],
    )
    assert.equal(row!.connector, authenticatorName)
  })
})
