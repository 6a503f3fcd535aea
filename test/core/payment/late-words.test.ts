/** The cells of the table of late words, on a running engine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { sampled } from '../../rig/scope.ts'
import { cells, nameOf, type Subject, standings } from './late-words/cells.ts'
import { type Looked, look } from './late-words/look.ts'
import { inParallel, Play, type Played } from './late-words/play.ts'
import { becomes, type Seen, stoodAs } from './late-words/rules.ts'

/** Hundreds of payments are made, told of and looked at before the first test. */
const beforeLimit = { timeout: 300_000 }
/** Of each kind of payment in each standing, two words; a long run says all. */
const wordsOfStanding = 2
const chosen = (subject: Subject) =>
  standings.flatMap((standing) =>
    sampled(
      cells.filter((cell) => cell.subject === subject && cell.standing === standing),
      wordsOfStanding,
    ),
  )
/** Many failures usually have one cause. */
const shown = 100
const alice = { by: 'alice', reason: 'the statement of the acquirer says so' }

/**
 * Each group has its own engine, because the check of the books compares every payment with every
 * other.
 */
const groups: readonly (readonly Subject[])[] = [
  ['authorisation', 'replacement'],
  ['sale', 'credit', 'undo'],
  ['capture', 'refund'],
  ['increase', 'release', 'void', 'void of a capture'],
]
for (const group of groups) describe(`late words: ${group.join(', ')}`, () => lateWords(group))

function lateWords(subjects: readonly Subject[]): void {
  let play: Play
  let played: readonly Played[]
  let stood: readonly Looked[]
  let said: readonly Looked[]
  let again: readonly Looked[]

  before(async () => {
    play = await Play.start()
    played = await play.stage(subjects.flatMap(chosen))
    stood = await look(play, played)
    await inParallel(played, (one) => play.say(one, one.cell.word, `${one.reference}-once`))
    await play.rest()
    said = await look(play, played)
    await inParallel(played, (one) => play.say(one, one.cell.word, `${one.reference}-once`))
    await inParallel(played, (one) => play.say(one, one.cell.word, `${one.reference}-again`))
    await play.rest()
    again = await look(play, played)
  }, beforeLimit)
  after(() => closeChecked(play.run))

  const each = (
    which: (one: Played) => boolean,
    differ: (no: number) => readonly [Seen, Partial<Seen>],
  ) => {
    const wrong = played.flatMap((one, no) => {
      if (!which(one)) return []
      const [found, expected] = differ(no)
      const names = (Object.keys(expected) as (keyof Seen)[]).filter(
        (name) => !isDeepStrictEqual(found[name], expected[name]),
      )
      return names.map(
        (name) =>
          `${nameOf(one.cell)}: ${name} is ${JSON.stringify(found[name])}, not ${JSON.stringify(expected[name])}`,
      )
    })
    assert.ok(wrong.length === 0, `${wrong.length} of them:\n${wrong.slice(0, shown).join('\n')}`)
  }

  /** The entries and events after the word. */
  const since = (no: number, now: Looked): Seen => {
    const { askedBack, ...more } = now
    const then = stood[no]!
    return { ...more, events: now.events - then.events, asksBack: askedBack > then.askedBack }
  }

  test('every payment has its expected state before the word', () => {
    each(
      () => true,
      (no) => [since(no, stood[no]!), stoodAs(played[no]!.cell)],
    )
  })

  for (const subject of subjects) {
    for (const standing of standings) {
      test(`${subject}, ${standing}`, () => {
        each(
          ({ cell }) => cell.subject === subject && cell.standing === standing,
          (no) => [since(no, said[no]!), becomes(played[no]!.cell)],
        )
      })
    }
  }

  test('a repeated word, in one message or in two, changes nothing more', () => {
    const state = ({ askedBack: _, ...more }: Looked) => more
    each(
      () => true,
      (no) => [state(again[no]!), state(said[no]!)],
    )
  })

  test('every listed entry and open payment has an action that ends it', async () => {
    const { gateway, sql } = play.run
    const open = await sql<{ id: string }>(
      `select id from tollgate.payment where state in ('pending', 'unknown')`,
    )
    const isOpen = new Set(open.map(({ id }) => id))
    const undecided = played.filter(({ id }) => isOpen.has(id))
    await inParallel(undecided, (one) => play.say(one, 'declined'))
    // A reversal of the engine's own that may still fail ends with the acquirer's last word.
    const undoing = played.filter(
      ({ cell }) => cell.subject === 'undo' && cell.standing === 'accepted',
    )
    await inParallel(undoing, (one) => play.say(one, 'approved'))
    await play.rest()
    const late = await sql<{ payment_id: string }>(
      `select payment_id from tollgate.attempt where state = 'late' order by key`,
    )
    await inParallel(late, async ({ payment_id: id }, no) => {
      const as = no % 2 === 0 ? 'approved' : 'declined'
      // The engine may process the message first; money of another amount is returned. A success that
      // the engine reversed ends with the reversal.
      await until(async () => {
        await gateway.operator
          .settle(id, as, alice)
          .catch(() => gateway.operator.settle(id, 'declined', alice))
          .catch(() => gateway.operator.redrive(id, alice))
          .catch(() => undefined)
        const [attempt] = await sql<{ state: string }>(
          'select state from tollgate.attempt where payment_id = $1',
          [id],
        )
        return attempt!.state === 'late' ? undefined : true
      })
    })
    // Words that met other work are still on their way.
    await until(async () => {
      const entries = await gateway.attention(5000)
      for (const { id } of entries) await gateway.operator.resolve(id, alice).catch(() => undefined)
      return entries.length === 0 || undefined
    })
    assert.deepEqual(
      await sql(`select payment_id from tollgate.payment_balance where frozen_by <> '{}'`),
      [],
    )
  })
}
