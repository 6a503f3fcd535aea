/** What an attack is, what it may use, and what it leaves to say. */
import type { Ground } from './ground.ts'
import type { Random } from './random.ts'

/** How much is done. `short` is part of the tests; `full` is for machines with time. */
export type Profile = 'short' | 'full'

/** Something that must not be. One kind of finding is told once, with how often it was seen. */
export type Finding = {
  readonly what: string
  /** What to send to see it again: bounded, and without secrets. */
  readonly reproduction: string
  readonly times: number
}

export type Counts = Readonly<Record<string, number | string>>

export type Attack = {
  /** One word, for `--only`. */
  readonly name: string
  /** What it tries, in one line. */
  readonly title: string
  /** Does it, tells `run.find` what must not be, and answers what was counted. */
  run(run: AttackRun): Promise<Counts>
}

export type AttackRun = {
  readonly ground: Ground
  readonly profile: Profile
  /** A source of its own for every attack: leaving one out changes no other. */
  readonly random: Random
  /** Time that an attack may take which counts by time. */
  readonly forMs: number
  find(what: string, reproduction: string): void
}

export type Report = {
  readonly name: string
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly tookMs: number
}

const shownCharacters = 600

/** Runs one attack. What it throws is a finding too: an attack that breaks off has shown nothing. */
export async function carryOut(attack: Attack, given: Omit<AttackRun, 'find'>): Promise<Report> {
  const findings = new Map<string, { reproduction: string; times: number }>()
  const find = (what: string, reproduction: string) => {
    const known = findings.get(what)
    if (known === undefined) findings.set(what, { reproduction: redacted(reproduction), times: 1 })
    else known.times += 1
  }
  const startedMs = performance.now()
  let counts: Counts = {}
  try {
    counts = await attack.run({ ...given, find })
  } catch (thrown) {
    find(
      'the attack could not be carried out',
      thrown instanceof Error ? String(thrown.stack) : String(thrown),
    )
  }
  return {
    name: attack.name,
    counts,
    findings: [...findings].map(([what, { reproduction, times }]) => ({
      what,
      reproduction,
      times,
    })),
    tookMs: performance.now() - startedMs,
  }
}

/** Printable, bounded, and without access tokens: a report is passed on. */
export function redacted(text: string): string {
  const plain = text
    .replaceAll(/(Bearer )[\x21-\x7e]+/gi, '$1<token>')
    .replaceAll(/[^\x20-\x7e\n]/gu, (character) => JSON.stringify(character).slice(1, -1))
  return plain.length <= shownCharacters
    ? plain
    : `${plain.slice(0, shownCharacters)}… (${plain.length} characters)`
}
