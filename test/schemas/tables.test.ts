import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerpt, type Field } from '../../schemas/table.ts'
import {
  groups,
  groupsByName,
  reconciliationColumns,
  searchMandatory,
  threeDSecureAuthentication,
  threeDSecureExternal,
  threeDSecureMandatory,
  threeDSecureSchemes,
} from '../../schemas/tables/index.ts'
import { allFields, fieldOf, groupOf, isReturned, isSent } from '../rig/table-look-up.ts'

const fieldsPerGroup = {
  basic: 26,
  entity: 2,
  forex: 2,
  card: 6,
  applePay: 4,
  googlePay: 2,
  samsungPay: 2,
  virtualAccount: 1,
  bankAccount: 10,
  tokenAccount: 6,
  customer: 32,
  'shipping.customer': 28,
  billing: 10,
  'merchant.billing': 18,
  shipping: 26,
  'merchant.shipping': 26,
  corporate: 13,
  sender: 13,
  recipient: 12,
  merchant: 30,
  'cart.items': 45,
  'cart.payments': 7,
  marketPlace: 2,
  airline: 46,
  tokenization: 2,
  registration: 8,
  recurringMigration: 6,
  standingInstruction: 10,
  threeDSecure: 37,
  customParameters: 1,
  asynchronous: 13,
  risk: 8,
  giftCard: 5,
  job: 16,
  schedule: 1,
  'schedule payment': 20,
  'schedule change': 3,
  'schedule preview': 1,
  page: 2,
  'event feed': 3,
  testClock: 1,
  clock: 2,
  'clock advance': 2,
  chargeback: 1,
  compatibility: 8,
  query: 10,
  'linked query': 1,
  reporting: 5,
  'report days': 3,
  'report order': 2,
  'report page': 2,
  'report list': 2,
  webhook: 4,
  'webhook query': 1,
  'webhook replay': 4,
  'delivery query': 1,
  answer: 6,
  error: 10,
  'payment response': 49,
  'registration purchase': 6,
  'registration response': 3,
  checkout: 1,
  'checkout press': 1,
  'checkout submission': 44,
  'checkout response': 2,
  'schedule response': 9,
  'schedule list response': 12,
  'clock response': 5,
  'event response': 6,
  'event list response': 8,
  'query response': 4,
  'step response': 24,
  'webhook response': 16,
  'webhook rotation': 1,
  'webhook list response': 2,
  'webhook action response': 7,
  'delivery response': 15,
  notification: 17,
  'reconciliation record': 42,
  'aggregation response': 27,
  'aggregation list response': 28,
  'record list response': 47,
  'report file response': 10,
  'report destination': 8,
  'report destination query': 1,
  'report replay': 3,
  'report delivery query': 1,
  'sftp key': 2,
  'report destination response': 13,
  'report destination list response': 2,
  'report delivery response': 14,
  'report action response': 6,
  'sftp key response': 8,
  'sftp key list response': 2,
  'answer without id': 5,
  'authentication proof': 1,
  'authentication response': 1,
  'checkout offer': 31,
  'wallet session': 2,
  'wallet session response': 1,
  'checkout state response': 15,
  'checkout submission response': 17,
  'clock list response': 1,
  'payment notification': 2,
  'scheduled response': 2,
  'result code list response': 2,
  'schedule notification': 10,
}

test('every table has all its fields', () => {
  const counted = Object.fromEntries(groups.map((group) => [group.name, group.fields.length]))
  assert.deepEqual(counted, fieldsPerGroup)
  assert.equal(groupsByName.size, groups.length, 'no two tables have the same name')
})

test('no two rows have the same name, unless both tables share it on purpose', () => {
  for (const group of groups) {
    const names = group.fields.map((field) => field.name)
    assert.deepEqual(names, [...new Set(names)], group.name)
  }
  // An excerpt shares the rows of another table, which count once.
  const rows = new Map(
    allFields
      .filter(({ field }) => isSent(field))
      .toReversed()
      .map(({ group, field }) => [field, group.name]),
  )
  const owners = Map.groupBy(rows, ([field]) => field.name)
  const shared = [...owners]
    .filter(([, all]) => all.length > 1)
    .map(([name, all]) => [name, all.map(([, group]) => group).toSorted()])
  assert.deepEqual(Object.fromEntries(shared), {
    currency: ['basic', 'reporting'],
    merchantTransactionId: ['basic', 'query'],
    'customParameters[name]': ['checkout submission', 'customParameters'],
    nonce: ['checkout press', 'checkout submission'],
    origin: ['checkout submission', 'wallet session'],
    registrationId: ['checkout submission', 'schedule', 'schedule preview'],
    limit: ['page', 'query', 'report list'],
    cursor: ['page', 'query', 'report list'],
    pageNo: ['query', 'report page'],
    'date.from': ['query', 'reporting'],
    'date.to': ['query', 'reporting'],
    types: ['event feed', 'webhook'],
    active: ['report destination', 'webhook'],
    removed: ['report destination query', 'webhook query'],
    state: ['delivery query', 'report delivery query'],
    name: ['clock', 'sftp key'],
    which: ['report replay', 'webhook replay'],
  })
})

test('no name is both a value and a group', () => {
  for (const side of [isSent, (field: Field) => field.direction === 'response']) {
    const names = [
      ...new Set(
        allFields
          // What a browser gets of a checkout is an answer of its own.
          .filter(({ group }) => group.name !== 'checkout offer')
          .map(({ field }) => field)
          .filter(side)
          .map((f) => f.name),
      ),
    ]
    for (const name of names) {
      const below = names.find(
        (other) => other.startsWith(`${name}.`) || other.startsWith(`${name}[`),
      )
      assert.equal(below, undefined, `${name} is a value, so no name can lie below it`)
    }
  }
})

test('account numbers are sealed, and the list is complete', () => {
  const sealed = allFields.filter(({ field }) => field.class === 'pan').map(({ field }) => field)
  assert.deepEqual([...new Set(sealed.map((field) => field.name))].sort(), [
    'bankAccount.iban',
    'bankAccount.number',
    'card.number',
    'giftCard.number',
    'recipient.accountNumber',
    'sender.accountNumber',
    'tokenAccount.number',
  ])
})

test('sensitive authentication data is named completely', () => {
  const sensitive = allFields.filter(({ field }) => field.class === 'sad').map(({ field }) => field)
  assert.deepEqual([...new Set(sensitive.map((field) => field.name))].sort(), [
    'applePay.paymentToken',
    'card.cvv',
    'giftCard.pin',
    'googlePay.paymentToken',
    'samsungPay.paymentToken',
    'threeDSecure.verificationId',
    'tokenAccount.cryptogram',
    'tokenAccount.dtvc',
  ])
})

test('sealed, sensitive and secret fields of a merchant are never returned or kept', () => {
  for (const { field } of allFields.filter(({ field }) => isSent(field))) {
    if (['pan', 'sad', 'secret'].includes(field.class)) {
      assert.equal(field.direction, 'request', field.name)
    }
  }
})

test('names, addresses and contact data are personal', () => {
  const personal =
    /(^|\.)(givenName|middleName|surname|firstName|lastName|holder|birthDate|dob|email|ip|phone|mobile|workPhone|street\d?|houseNumber\d|city|postcode|identificationDocId)$/
  // Data that a merchant or a bank publishes about itself is not personal.
  const published = /^merchant\.(?!billing|shipping)|^card\.issuer\./
  for (const { field } of allFields) {
    if (!personal.test(field.name) || published.test(field.name)) continue
    assert.ok(['person', 'sad', 'pan'].includes(field.class), `${field.name} is personal`)
  }
})

test('technical data of a device is not returned', () => {
  for (const { field } of allFields.filter(({ field }) => isSent(field))) {
    if (
      /\.(browser|browserFingerprint|app)\./.test(field.name) &&
      !/^merchant\./.test(field.name)
    ) {
      const echoedBelow = field.direction === 'echoed'
      assert.equal(echoedBelow, false, field.name)
    }
  }
})

test('a name has one format in all tables that an answer can merge', () => {
  const merged = groups.filter(
    (group) =>
      ![
        'query',
        'reporting',
        'checkout response',
        // Its row takes the place of the one that a merchant sends.
        'authentication response',
        'checkout offer',
        'checkout state response',
        'checkout submission response',
        'event response',
        'reconciliation record',
        'aggregation response',
        'record list response',
      ].includes(group.name),
  )
  const formats = new Map<string, string>()
  for (const field of merged.flatMap((group) => group.fields).filter(isReturned)) {
    const format = JSON.stringify(field.format)
    assert.equal(formats.get(field.name) ?? format, format, field.name)
    formats.set(field.name, format)
  }
})

test('a container names its keys, and no other field does', () => {
  for (const { field } of allFields) {
    assert.equal(field.options.key !== undefined, field.name.includes('[name]'), field.name)
    assert.equal(/\[name\]./.test(field.name), false, `${field.name}: the free key is last`)
  }
})

test('tables are plain data', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(groups)), groups)
  const apart = [threeDSecureMandatory, searchMandatory]
  assert.deepEqual(JSON.parse(JSON.stringify(apart)), apart)
})

test('an alternative name never hides a field', () => {
  const names = new Set(allFields.map(({ field }) => field.name))
  const aliases = allFields.flatMap(({ field }) => field.options.aliases ?? [])
  for (const alias of aliases) assert.equal(names.has(alias), false, alias)
  assert.deepEqual(fieldOf('basic', 'entityId').options.aliases, ['authentication.entityId'])
})

test('exactly the known undocumented names of clients are tolerated', () => {
  const tolerated = allFields
    .filter(({ field }) => field.options.tolerated)
    .map(({ field }) => field.name)
  assert.deepEqual(tolerated, [
    'authentication.userId',
    'authentication.password',
    'threeDSecure.xid',
    'threeDSecure.flow',
    'shipping.givenName',
    'shipping.surname',
    'recurringType',
    'customer.browser.javascriptEnabled',
  ])
})

test('every card scheme has its requestor, and authentication never takes external values', () => {
  const authentication = threeDSecureAuthentication.fields.map((field) => field.name)
  for (const scheme of threeDSecureSchemes) {
    assert.ok(authentication.includes(`threeDSecure.v2.${scheme}.requestorId`))
    assert.ok(authentication.includes(`threeDSecure.v2.${scheme}.requestorName`))
  }
  assert.equal(threeDSecureSchemes.length, 6)
  assert.equal(authentication.length, 23)
  assert.equal(threeDSecureExternal.fields.length, 9)
  for (const { name } of threeDSecureExternal.fields)
    assert.equal(authentication.includes(name), false)
})

test('the delivery customer repeats the customer, without the fields of a device', () => {
  const names = groupOf('shipping.customer').fields.map((field) => field.name)
  assert.equal(
    names.some((name) => /browserFingerprint|deviceId/.test(name)),
    false,
  )
  assert.ok(names.includes('shipping.customer.browser.userAgent'))
  assert.ok(groupOf('shipping.customer').fields.every((field) => field.need === 'O'))
})

test('cart items reach index 1000', () => {
  assert.ok(groupOf('cart.items').fields.every((field) => field.options.maxIndex === 1000))
  assert.equal(fieldOf('cart.items', 'cart.items[n].quantityUnit').options.default, 'COUNT')
})

test('the reconciliation file has 36 columns, and every field but four has its column', () => {
  assert.equal(reconciliationColumns.length, 36)
  const { fields } = groupOf('reconciliation record')
  const used = fields.flatMap((field) => field.options.column ?? [])
  assert.deepEqual([...new Set(used)].sort(), [...reconciliationColumns].sort())
  const without = fields.filter((field) => field.options.column === undefined).map((f) => f.name)
  assert.deepEqual(without, [
    'payment.amount',
    'payment.currency',
    'merchantTransactionId',
    'merchantInvoiceId',
  ])
})

test('an excerpt with unknown rows is refused by name', () => {
  assert.throws(
    () => excerpt(groupOf('basic'), ['amuont'], 'some', 'Some'),
    /group basic has no field amuont/,
  )
})
