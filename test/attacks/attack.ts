/** The parts of an attack: its name, its permitted resources and its report. */
import type { Ground } from './ground.ts'
import type { Random } from './random.ts'

/** The amount of work. `sample` and `short` are part of the tests, `full` is for machines with time. */
export type Profile = 'sample' | 'short' | 'full'

/** What a run tries of a list: a sample takes some of it, spread evenly, always the same. */
export function triedOf<Case>(profile: Profile, all: readonly Case[]): readonly Case[] {
  if (profile !== 'sample' || all.length <= sampleSize) return all
  return Array.from(
    { length: sampleSize },
    (_, at) => all[Math.round((at * (all.length - 1)) / (sampleSize - 1))]!,
  )
}

const sampleSize = 12

/** A flaw in the product. One kind of finding is reported once, with its count. */
export type Finding = {
  readonly what: string
  /** The request that shows the finding again: bounded, and without secrets. */
  readonly reproduction: string
  readonly times: number
}

export type Counts = Readonly<Record<string, number | string>>

export type Attack = {
  /** One word, for `--only`. */
  readonly name: string
  /** One line that names the tried inputs. */
  readonly title: string
  /** Carries the attack out, reports flaws to `run.find`, and returns its counts. */
  run(run: AttackRun): Promise<Counts>
}

export type AttackRun = {
  readonly ground: Ground
  readonly profile: Profile
  /** Each attack has its own source, so that omitting one changes no other. */
  readonly random: Random
  /** The duration of attacks that are measured by time. */
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

/**
 * Runs one attack. A thrown error is a finding too, because an interrupted attack proves nothing.
 */
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

/** Printable, bounded, and without access tokens, because reports are passed on. */
export function redacted(text: string): string {
  const plain = text
    .replaceAll(/(Bearer )[\x21-\x7e]+/gi, '$1<token>')
    .replaceAll(/[^\x20-\x7e\n]/gu, (character) => JSON.stringify(character).slice(1, -1))
  return plain.length <= shownCharacters
    ? plain
    : `${plain.slice(0, shownCharacters)}… (${plain.length} characters)`
}
