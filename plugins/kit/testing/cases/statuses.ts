import assert from 'node:assert/strict'
import type { Kind } from '../../connector.ts'
import { type Case, needs, needsHandler, needsLine } from '../case.ts'
import type { Fault } from '../fault.ts'
import { type Stage, told } from '../harness.ts'
import { firstKinds, followUpKinds } from '../operation.ts'
import { isTheTruth, performUnder } from './line.ts'

/** Statuses that proxies, load balancers and firewalls also send, whether or not the acquirer did its work. */
const statuses = [400, 403, 404, 408, 409, 429, 503, 504] as const

const foreign = {
  'a page of HTML': '<html><body><h1>Something went wrong</h1></body></html>',
  'an empty body': '',
} as const

const arrivals = {
  'after the acquirer did it': true,
  'before the acquirer got it': false,
} as const

type Row = readonly [name: string, fault: Fault]

/** The faults of one status: none has a word of the acquirer in it. */
const rowsOf = (status: number): readonly Row[] =>
  Object.entries(foreign).flatMap(([what, body]) =>
    Object.entries(arrivals).map(
      ([when, reaches]): Row => [
        `HTTP ${status} with ${what}, ${when}`,
        { reaches, damage: { do: 'replace', status, type: 'text/html', body } },
      ],
    ),
  )

/** Every status with every body, for requests that reached the acquirer and for those that did not. */
export const statusFaults: Readonly<Record<string, Fault>> = Object.fromEntries(
  statuses.flatMap(rowsOf),
)

/** Each fault for a first operation and for a follow-up, and each status for every kind of the connector. */
function* meetings(stage: Stage): Generator<readonly [Kind, ...Row]> {
  for (const family of [firstKinds, followUpKinds] as const) {
    const kinds = (family as readonly Kind[]).filter((kind) => stage.connector[kind] !== undefined)
    if (kinds.length === 0) continue
    for (const [turn, status] of statuses.entries()) {
      for (const [at, row] of rowsOf(status).entries()) {
        yield [kinds[(turn + at) % kinds.length]!, ...row]
      }
    }
  }
}

export const statusCases: readonly Case[] = [
  {
    name: 'a status without words of the acquirer leaves the outcome unknown',
    without: needs(needsLine, needsHandler(...firstKinds, ...followUpKinds)),
    async run(stage) {
      for (const [kind, name, fault] of meetings(stage)) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const { outcome, thrown } = await performUnder(stage, operation, fault)
        const isTrue = await isTheTruth(stage, before, operation, outcome)
        const was = `${name}: ${kind} was ${told(outcome, thrown)}`
        const rule = "return unknown; only the acquirer's own body says that it did nothing"
        assert.ok(outcome.is === 'unknown' || isTrue, `${was}; ${rule}`)
      }
    },
  },
]
