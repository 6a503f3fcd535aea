/** An actor as an embedding program names it: no card number reaches the audit trail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actorBy } from '../../../core/audit/actor.ts'
import { auditRows } from '../../../core/audit/stored-rows.ts'
import { sql } from '../../../core/db/sql.ts'
import { newId } from '../../../core/index.ts'

const number = '4111111111111111'

test('a card number in the id or name of an actor is masked', () => {
  for (const by of [
    { kind: 'operator', id: number, name: `Ada ${number}` },
    { kind: 'operator', id: number },
    `Ada ${number}`,
  ] as const) {
    const actor = actorBy(by)
    assert.doesNotMatch(JSON.stringify(actor), /4111111111111111/)
  }
})

test('an id of the engine stays as it is, whatever digits are in it', () => {
  for (const id of [newId(), `${'a'.repeat(16)}${number}`]) {
    assert.equal(actorBy({ kind: 'operator', id, name: 'Ada' }).id, id)
  }
  assert.equal(actorBy({ kind: 'operator', id: 'ada@example.com' }).id, 'ada@example.com')
  assert.equal('name' in actorBy({ kind: 'operator', id: 'ada' }), false)
})

test('a card number at the end of a name that is cut is masked in the trail', () => {
  for (const end of [number, '4111%201111%201111%201111']) {
    const actor = { kind: 'operator', id: 'ada', name: `${'x'.repeat(240)}${end}` } as const
    const { values } = auditRows({ actor, action: 'token.created' }, { from: sql`moved` })
    const [name] = values.filter((value) => String(value).startsWith('xxx'))
    assert.equal(String(name).length, 255)
    assert.match(String(name), /^x{240}[* ]+[0-9]{0,4}$/)
  }
})
