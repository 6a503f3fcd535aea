/** What follows from the words about a name, whatever order they came in. */
import type { Told, Try, Words } from './undo-words.ts'

/** What may have taken a payment back: a try of ours, or a cancellation made in another way. */
export type Taking = {
  /** Of a try. */
  readonly round?: number
  /** Adyen's reference of the payment. A success without it took one that nothing else took. */
  readonly payment?: string
  readonly isDone: boolean
  readonly isFailed: boolean
  /** The word that its money came back to the merchant. */
  readonly returned?: Told
  readonly told: readonly Told[]
}

export type Judgement = {
  /** Adyen's references of payments that are authorised and that nothing took back, in their turn. */
  readonly standing: readonly string[]
  /** Whether a payment stands, also one whose reference nobody told. */
  readonly stands: boolean
  /** Payments of which a failed try of ours left open whether they stand. */
  readonly doubtful: readonly string[]
  /** Something was taken back, and nothing of this name stands. */
  readonly isOver: boolean
  /** Adyen knows no payment of this name, or told that it was refused. */
  readonly isNothing: boolean
  /** The last try failed for the payment that it named by Adyen's reference, and none was ever told as authorised. */
  readonly isVain: boolean
  /** The try under way. */
  readonly underWay?: Try
  /** The payment that the next try names. */
  readonly next?: string
  readonly takings: readonly Taking[]
}

export function judge(words: Words): Judgement {
  const takings = takingsOf(words)
  const real = takings.filter(({ isDone, returned }) => isDone || returned !== undefined)
  const valid = real.filter(({ returned }) => returned === undefined)
  const known = paymentsOf(words, real)
  const turnOf = (psp: string) => refusalOf(words, takings, psp)
  const { standing, surplus } = withoutTaken(known, valid, turnOf)
  const stands = standing.length > 0 || (known.length + valid.length === 0 && real.length > 0)
  const suspects = suspectsOf(words, takings)
    .filter((psp) => !known.includes(psp))
    .toSorted((one, other) => turnOf(one) - turnOf(other))
  const doubtful = suspects
    .filter((psp) => turnOf(psp) === 0 && isNamedByTry(takings, psp))
    .slice(surplus)
  const last = words.tries.at(-1)
  const end = takings.find(({ round }) => round !== undefined && round === last?.round)
  const hasFailed = end?.isFailed === true
  const isAuthorised = words.authorised.length + words.reported.length + real.length > 0
  const isEnded =
    last?.answer !== undefined || last?.isPassed === true || (end?.told ?? []).length > 0
  const next = standing[0] ?? doubtful[0] ?? suspects[0]
  return {
    takings,
    standing,
    stands,
    doubtful,
    isOver: valid.length > 0 && !stands && doubtful.length === 0,
    isNothing:
      !isAuthorised &&
      suspects.length === 0 &&
      (hasFailed || (words.refused.length > 0 && last !== undefined)),
    isVain: !isAuthorised && hasFailed && last?.of !== undefined,
    ...(last === undefined || isEnded ? {} : { underWay: last }),
    ...(next === undefined ? {} : { next }),
  }
}

/** Payments that were there for certain, in the order in which they were told. */
function paymentsOf({ authorised, reported, refused }: Words, real: readonly Taking[]) {
  // Of one that was told both ways, nobody knows.
  const told = authorised.filter((psp) => !refused.includes(psp))
  const named = real.flatMap(({ payment = [] }) => payment)
  return [...new Set([...told, ...reported, ...named])]
}

/**
 * Payments that nothing took back. A success that names none took the one that Adyen refuses to take back, else the
 * first one: whatever is guessed, a refusal of the guess brings the turn to the other one.
 */
function withoutTaken(
  known: readonly string[],
  valid: readonly Taking[],
  turnOf: (psp: string) => number,
) {
  const untaken = known.filter((psp) => valid.every(({ payment }) => payment !== psp))
  const nameless = valid.filter(({ payment }) => payment === undefined).length
  const standing = untaken
    .toSorted((one, other) => turnOf(other) - turnOf(one))
    .slice(nameless)
    .toSorted((one, other) => turnOf(one) - turnOf(other))
  return { standing, surplus: Math.max(0, nameless - untaken.length) }
}

/** The last try that Adyen refused for a payment, which waits for its turn, and does not keep others from theirs. */
function refusalOf({ tries }: Words, takings: readonly Taking[], psp: string): number {
  const failed = takings.flatMap(({ isFailed, round = [] }) => (isFailed ? round : []))
  const refusals = tries
    .filter(
      ({ of, answer, round }) => of === psp && (answer === 'refused' || failed.includes(round)),
    )
    .map(({ round }) => round)
  return Math.max(0, ...refusals)
}

/** Payments that Adyen could not take back: captured, refused, or taken back before. */
function suspectsOf(words: Words, takings: readonly Taking[]): readonly string[] {
  const { tries, told, refused, authorised } = words
  const failures = takings.flatMap(failuresIn)
  const named = [...failures.map(({ original }) => original), ...tries.flatMap(({ of = [] }) => of)]
  const references = referencesIn({ tries, told })
  return [...new Set(named)].filter(
    (psp) =>
      psp !== '' && !references.has(psp) && (!refused.includes(psp) || authorised.includes(psp)),
  )
}

const failuresIn = ({ isFailed, told }: Taking) =>
  isFailed ? told.filter(({ is }) => is === 'failed') : []

const isNamedByTry = (takings: readonly Taking[], psp: string): boolean =>
  takings.some(
    (taking) =>
      taking.round !== undefined && failuresIn(taking).some(({ original }) => original === psp),
  )

/** Adyen's references of cancellations: none of them is a payment. */
const referencesIn = ({ tries, told }: Pick<Words, 'tries' | 'told'>): ReadonlySet<string> =>
  new Set([...tries.flatMap(({ psp = [] }) => psp), ...told.map(({ psp }) => psp)])

function takingsOf({ tries, told }: Words): readonly Taking[] {
  const references = referencesIn({ tries, told })
  const roundBy = roundsIn(tries, told)
  const roundOf = ({ round, psp, original }: Told) =>
    round ?? roundBy.get(psp) ?? roundBy.get(original)
  const isOther = (one: Told) => roundOf(one) === undefined
  const isEnd = ({ is }: Told) => is !== 'returned'
  const isAbout = (one: Told, psp: string) => one.psp === psp || one.original === psp
  const rounds = new Set([
    ...tries.map(({ round }) => round),
    ...told.flatMap((one) => roundOf(one) ?? []),
  ])
  const others = new Set(told.filter((one) => isEnd(one) && isOther(one)).map(({ psp }) => psp))
  const ofTries = [...rounds].map((round) => {
    const made = tries.find((one) => one.round === round) ?? { round }
    return takingIn(
      told.filter((one) => roundOf(one) === round),
      made,
      references,
    )
  })
  // A return can name the try by our reference, although nobody knew that the success was that of the try.
  const ofOthers = [...others].map((psp) =>
    takingIn(
      told.filter((one) => (isOther(one) || !isEnd(one)) && isAbout(one, psp)),
      {},
      references,
    ),
  )
  return [...ofTries, ...ofOthers]
}

/** One cancellation, by all that was told of it. */
function takingIn(
  about: readonly Told[],
  { round, of }: Partial<Try>,
  references: ReadonlySet<string>,
): Taking {
  const isDone = about.some(({ is }) => is === 'done')
  const returned = about.find(({ is }) => is === 'returned')
  const successes = about.filter(({ is }) => is === 'done').map(({ original }) => original)
  const names = [...successes, of, returned?.original]
  const payment = names.find((name) => name !== undefined && name !== '' && !references.has(name))
  return {
    told: about,
    isDone,
    isFailed: !isDone && returned === undefined && about.length > 0,
    ...(round === undefined ? {} : { round }),
    ...(payment === undefined ? {} : { payment }),
    ...(returned === undefined ? {} : { returned }),
  }
}

/** The tries by Adyen's references of them. */
function roundsIn(tries: Words['tries'], told: readonly Told[]): ReadonlyMap<string, number> {
  const rounds = new Map<string, number>()
  for (const { psp, round } of [...tries, ...told.filter(({ is }) => is !== 'returned')])
    if (psp !== undefined && round !== undefined) rounds.set(psp, round)
  // A technical cancellation has the name of the payment: one that nobody knows is a try whose answer was lost.
  const bound = new Set(rounds.values())
  const unbound = tries.filter(({ of, round }) => of === undefined && !bound.has(round))
  const strangers = told.filter(
    ({ eventCode, psp }) => eventCode === 'TECHNICAL_CANCEL' && !rounds.has(psp),
  )
  for (const [no, psp] of [...new Set(strangers.map((one) => one.psp))].entries()) {
    const lost = unbound[no]
    if (lost !== undefined) rounds.set(psp, lost.round)
  }
  return rounds
}
