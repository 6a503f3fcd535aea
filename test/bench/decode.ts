/**
 * Measures decoding and validation of a request on one core:
 * `npm run bench` runs all benchmarks, `node --conditions=@tollgate/source test/bench/decode.ts`
 * this one.
 */
import { holdsCardNumber } from '../../core/request/card-data.ts'
import { decode } from '../../core/request/decode.ts'
import { ParameterErrors } from '../../core/request/parameter-errors.ts'
import { parseRequest, warm } from '../../core/request/parse.ts'
import { planOf } from '../../core/request/plan.ts'
import { operationNamed } from '../../schemas/index.ts'

const payment = Buffer.from(
  'entityId=8ac7a4c9671f0e2b01672a5d8e3f0b1c&amount=92.00&currency=EUR&paymentBrand=VISA' +
    '&paymentType=DB&card.number=4200000000000000&card.holder=Jane+Jones&card.expiryMonth=05' +
    '&card.expiryYear=2034&card.cvv=123&merchantTransactionId=order-12345&testMode=INTERNAL',
)
const nested = Buffer.from(
  JSON.stringify({
    entityId: '8ac7a4c9671f0e2b01672a5d8e3f0b1c',
    amount: '92.00',
    currency: 'EUR',
    paymentBrand: 'VISA',
    paymentType: 'DB',
    card: {
      number: '4200000000000000',
      holder: 'Jane Jones',
      expiryMonth: '05',
      expiryYear: '2034',
      cvv: '123',
    },
    merchantTransactionId: 'order-12345',
    testMode: 'INTERNAL',
  }),
)
const item = (index: number) =>
  `&cart.items[${index}].name=Article+${index}&cart.items[${index}].quantity=2` +
  `&cart.items[${index}].price=10.50&cart.items[${index}].currency=EUR&cart.items[${index}].sku=S${index}`
const cart = Buffer.from(
  payment.toString() + Array.from({ length: 1001 }, (_, index) => item(index)).join(''),
)

/** Median of several rounds, in microseconds per call. */
function measure(calls: number, run: () => unknown): number {
  const rounds = Array.from({ length: 15 }, () => {
    const start = performance.now()
    for (let call = 0; call < calls; call++) run()
    return ((performance.now() - start) * 1000) / calls
  })
  return rounds.toSorted((a, b) => a - b)[7] as number
}

const print = (what: string, microseconds: number) =>
  console.log(`${what.padEnd(76)}${microseconds.toFixed(2).padStart(10)} µs`)

const texts = {
  'a name': 'Jane Jones of Berlin',
  'a text of 117 characters with 15 digits': 'Lorem ipsum dolor sit amet order 12345 '.repeat(3),
  'a number of 16 digits in groups, no card number': 'paid 4111 1111 1111 1112 today',
  'a text of 2,048 digits': '4111111111111112'.repeat(128),
}
for (const [what, text] of Object.entries(texts)) {
  print(
    `looking for card numbers: ${what}`,
    measure(10_000, () => holdsCardNumber(text)),
  )
}

const start = performance.now()
warm(['payments.create'])
print('compiling payments.create', (performance.now() - start) * 1000)

const plan = planOf(operationNamed('payments.create'))
const payments = { form: payment }
const items = { form: cart }
print(
  '12 fields, form: decode',
  measure(20_000, () => decode(plan, payments, new ParameterErrors())),
)
print(
  '12 fields, form: decode and validate',
  measure(20_000, () => parseRequest('payments.create', payments)),
)
print(
  '12 fields, JSON: decode and validate',
  measure(20_000, () => parseRequest('payments.create', { json: nested })),
)
print(
  '1,001 cart items (5,017 fields): decode',
  measure(20, () => decode(plan, items, new ParameterErrors())),
)
print(
  '1,001 cart items (5,017 fields): decode and validate',
  measure(20, () => parseRequest('payments.create', items)),
)
