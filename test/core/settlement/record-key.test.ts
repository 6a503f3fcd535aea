import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf, keyOf, occurrenceKey } from '../../../core/settlement/record-key.ts'

const hex = (...parts: (string | null)[]) => hashOf(parts).toString('hex')

test('no two lists of values read alike', () => {
  const lists = [
    hex('ab', 'c'),
    hex('a', 'bc'),
    hex('abc'),
    hex('abc', null),
    hex('abc', ''),
    hex(null, 'abc'),
    hex('', 'abc'),
    hex('1:a;1:b'),
    hex('a', 'b'),
    hex('-;'),
    hex(null),
    hex(),
  ]
  assert.equal(new Set(lists).size, lists.length)
})

test('a record with an id and a line without one never share a key', () => {
  const named = { kind: ['SETTLED'], merchantNumber: 'm', batch: 'b', text: 't' }
  const keys = [
    keyOf({ ...named, id: null }),
    keyOf({ ...named, id: 'b' }),
    keyOf({ ...named, id: 't' }),
  ].map((key) => key.toString('hex'))
  assert.equal(new Set(keys).size, 3)
})

test('the first of equal lines keeps its key, and every other one has its own', () => {
  const key = hashOf(['x'])
  const keys = [1, 2, 3].map((occurrence) => occurrenceKey(key, occurrence).toString('hex'))
  assert.equal(keys[0], key.toString('hex'))
  assert.equal(new Set(keys).size, 3)
  assert.deepEqual(occurrenceKey(key, 2).length, 16)
})
