import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../schemas/table.ts'
import { brands } from '../../schemas/tables/brands.ts'
import {
  groups,
  instrumentGroups,
  searchMandatory,
  threeDSecureMandatory,
} from '../../schemas/tables/index.ts'
import { allFields, groupOf, isSent } from '../rig/table-look-up.ts'

function namesIn(condition: Condition): string[] {
  switch (condition.rule) {
    case 'requires':
      return [
        ...condition.when,
        ...condition.need,
        ...[condition.onlyIf, condition.unless].flatMap((one) => (one ? [one.field] : [])),
      ]
    case 'any':
      return [...condition.when, ...condition.of]
    case 'not-digits-only':
      return [
        ...condition.of,
        ...(condition.ignoring ? [condition.ignoring.when, ...condition.ignoring.of] : []),
      ]
    case 'implies':
      return [condition.when.field, ...condition.need]
    case 'mandatory':
      return [...condition.need, ...(condition.unless ? [condition.unless.field] : [])]
    case 'not-together':
    case 'at-least-one':
      return [...condition.of]
  }
}

const allConditions = [
  ...groups.flatMap((group) => group.conditions),
  ...threeDSecureMandatory,
  ...searchMandatory,
]

test('conditions name existing fields', () => {
  const known = new Set(
    allFields
      .map(({ field }) => field)
      .filter(isSent)
      .map((f) => f.name),
  )
  for (const condition of allConditions) {
    for (const name of namesIn(condition))
      assert.ok(known.has(name), `${condition.message}: ${name}`)
    assert.ok(condition.message.length > 10)
  }
})

test('values in conditions are values of their fields', () => {
  const asked = allConditions.flatMap((condition) => {
    if (condition.rule === 'implies') return [condition.when]
    if (condition.rule !== 'requires' && condition.rule !== 'any') return []
    const onlyIf = condition.rule === 'requires' ? condition.onlyIf : undefined
    return [onlyIf, condition.unless].flatMap((one) =>
      one?.is ? [{ field: one.field, is: one.is }] : [],
    )
  })
  assert.ok(asked.length >= 4)
  const codes = brands.flatMap(({ code, aliases }) => [code, ...aliases])
  for (const { field, is } of asked) {
    if (field === 'paymentBrand') {
      for (const value of is) assert.ok(codes.includes(value), value)
      continue
    }
    const format = allFields.find((one) => one.field.name === field)?.field.format
    const possible =
      format?.kind === 'choice' ? format.of : format?.kind === 'flag' ? ['true', 'false'] : []
    for (const value of is) assert.ok(possible.includes(value), `${field} = ${value}`)
  }
})

test('any personal customer field needs the name, technical ones do not', () => {
  const rule = groupOf('customer').conditions[0]
  assert.equal(rule?.rule, 'requires')
  const when: readonly string[] = rule?.rule === 'requires' ? rule.when : []
  const free = groupOf('customer')
    .fields.map((f) => f.name)
    .filter((name) => !when.includes(name))
  assert.equal(free.length, 14)
  for (const name of free) assert.match(name, /^customer\.(ip|browser|browserFingerprint|app)/)
  assert.ok(when.includes('customer.email'))
  assert.deepEqual(groupOf('shipping.customer').conditions, [])
})

test('a bank account needs its holder, number or IBAN, and without an IBAN bank code or BIC, unless its brand redirects to the bank; a due date alone needs none', () => {
  const rules = groupOf('bankAccount').conditions
  assert.deepEqual(
    rules.map((rule) =>
      rule.rule === 'any' ? rule.of : rule.rule === 'requires' ? rule.need : [],
    ),
    [
      ['bankAccount.holder'],
      ['bankAccount.number', 'bankAccount.iban'],
      ['bankAccount.bankCode', 'bankAccount.bic', 'bankAccount.iban'],
    ],
  )
  for (const rule of rules) {
    assert.ok(rule.rule === 'any' || rule.rule === 'requires')
    assert.equal(rule.when.length, 9)
    assert.equal(rule.when.includes('transactionDueDate'), false)
    assert.equal(rule.unless?.field, 'paymentBrand')
    assert.ok(rule.unless?.is?.includes('SOFORTUEBERWEISUNG'))
    assert.ok(!rule.unless?.is?.includes('DIRECTDEBIT_SEPA'))
  }
})

test('every street address follows the same rules', () => {
  for (const prefix of ['billing', 'merchant.billing', 'shipping', 'merchant.shipping']) {
    const [streets, numbers] = groupOf(prefix).conditions
    assert.deepEqual(streets && { ...streets, message: '' }, {
      rule: 'not-digits-only',
      of: [`${prefix}.street1`, `${prefix}.street2`],
      ignoring: { when: `${prefix}.houseNumber1`, of: [`${prefix}.street2`] },
      message: '',
    })
    assert.deepEqual(numbers && { ...numbers, message: '' }, {
      rule: 'requires',
      when: [`${prefix}.houseNumber2`],
      need: [`${prefix}.houseNumber1`],
      message: '',
    })
  }
})

test('half a pair of job fields has the result code of its pair', () => {
  const codes = groupOf('job').conditions.map((rule) => [namesIn(rule)[0], rule.code])
  assert.deepEqual(codes, [
    ['job.noticeUnit', '100.250.107'],
    ['job.noticeNumber', '100.250.107'],
    ['job.durationUnit', '100.250.106'],
    ['job.durationNumber', '100.250.106'],
    ['job.noticeCallable', '100.250.107'],
    // The end of a period needs one; it is checked only with a notice.
    ['job.noticeNumber', '100.250.106'],
  ])
})

test('3-D Secure needs eleven fields in a browser, and an app need not describe one', () => {
  const always = threeDSecureMandatory.flatMap((rule) =>
    rule.rule === 'mandatory' && rule.unless === undefined ? rule.need : [],
  )
  const inBrowser = threeDSecureMandatory.flatMap((rule) =>
    rule.rule === 'mandatory' && rule.unless?.field === 'threeDSecure.deviceInfo' ? rule.need : [],
  )
  assert.deepEqual(always, [
    'billing.street1',
    'billing.city',
    'billing.postcode',
    'billing.country',
  ])
  assert.equal(inBrowser.length, 7)
  for (const name of inBrowser) assert.match(name, /^customer\.browser\./)
})

test('groups of instruments exist, so that stored ones can omit their required fields', () => {
  for (const name of instrumentGroups) {
    const { fields, conditions } = groupOf(name)
    const isRequired = fields.some((field) => field.need === 'R')
    assert.ok(isRequired || conditions.some(({ rule }) => rule === 'requires'), name)
  }
})
