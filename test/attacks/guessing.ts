import { once } from 'node:events'
import { type Attack, triedOf } from './attack.ts'
import { shapeOf } from './foreign.ts'
import { wrongWith } from './judge.ts'
import type { Random } from './random.ts'
import { type Answer, AnswerReader, get, open, sendAll } from './wire.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const path = `/v1/payments/${'0'.repeat(32)}`

export const guessing: Attack = {
  name: 'guessing',
  title: 'tokens by chance, tokens near a valid one, and the time that each takes',
  async run(run) {
    const { ground, random, profile } = run
    const { url } = await ground.host()
    const valid = ground.tokens[0]!
    const near = triedOf(profile, nearTokens(valid))
    const count = { sample: 50, short: 1_000, full: 20_000 }[profile]
    const guesses = [
      ...near,
      ground.revoked,
      ...Array.from({ length: count }, () => random.text(alphabet, valid.length)),
    ]
    const answers = await sendAll(
      url,
      guesses.map((token) => get(path, token)),
      { connections: 8, pipelined: 8, withinMs: 60_000 },
    )
    const shapes = new Set<string>()
    for (const [at, answer] of answers.entries()) {
      const wrong = wrongWith(answer)
      if (wrong !== undefined) run.find(wrong, `guess ${at} of ${guesses.length}`)
      if (answer.status !== 403) run.find(`a guess is answered ${answer.status}`, `guess ${at}`)
      shapes.add(shapeOf(answer, '-'))
    }
    if (shapes.size !== 1) run.find('guesses are answered in several ways', [...shapes].join('\n'))
    const times = await timed(url, valid, random, { sample: 20, short: 300, full: 3_000 }[profile])
    return {
      guesses: guesses.length,
      accepted: answers.filter(({ status }) => status !== 403).length,
      'ways of answering': shapes.size,
      ...times,
    }
  },
}

/**
 * Every token that differs from the valid one in one character, and other spellings of the valid
 * one.
 */
function nearTokens(valid: string): string[] {
  const changed = [...valid].map((character, at) => {
    const other = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length]!
    return valid.slice(0, at) + other + valid.slice(at + 1)
  })
  return [
    ...changed,
    valid.slice(0, -1),
    valid.slice(1),
    `${valid}A`,
    `${valid}=`,
    `%${valid.charCodeAt(0).toString(16)}${valid.slice(1)}`,
    valid.toUpperCase() === valid ? `${valid}a` : valid.toUpperCase(),
    [...valid].reverse().join(''),
  ].filter((token) => token !== valid)
}

/**
 * Compares the answer times for a token that shares all but its last character with a valid one,
 * and for random tokens. The result is reported without a verdict, because times on a shared
 * machine prove nothing alone.
 */
async function timed(url: string, valid: string, random: Random, count: number) {
  const socket = open(url)
  await once(socket, 'connect')
  const reader = new AnswerReader()
  const ask = (token: string) =>
    new Promise<number>((resolve, reject) => {
      const startedNs = process.hrtime.bigint()
      const hear = (chunk: Buffer) => {
        const [answer]: Answer[] = reader.add(chunk)
        if (answer === undefined) return
        socket.off('data', hear)
        resolve(Number(process.hrtime.bigint() - startedNs) / 1000)
      }
      socket.on('data', hear)
      socket.once('close', () => reject(new Error('the connection was closed')))
      socket.write(get(path, token))
    })
  socket.setMaxListeners(0)
  const byChance: number[] = []
  const near: number[] = []
  for (let no = 0; no < count; no += 1) {
    // Both kinds alternate, so that other load affects them alike. Each token is new.
    const tail = random.text(alphabet, 8)
    near.push(await ask(valid.slice(0, -8) + tail))
    byChance.push(await ask(random.text(alphabet, valid.length)))
  }
  socket.destroy()
  const { z, p } = mannWhitney(near, byChance)
  return {
    'median µs near': Math.round(median(near)),
    'median µs by chance': Math.round(median(byChance)),
    'Mann-Whitney z': z.toFixed(2),
    p: p.toFixed(3),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)]!
}

/** Two-sided, by the normal approximation; measured times hardly ever tie. */
export function mannWhitney(one: readonly number[], other: readonly number[]) {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ].sort((left, right) => left.value - right.value)
  const rankSum = all.reduce((sum, { isOne }, at) => sum + (isOne ? at + 1 : 0), 0)
  const n = one.length
  const m = other.length
  const u = rankSum - (n * (n + 1)) / 2
  const z = (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
  return { z, p: 2 * (1 - normal(Math.abs(z))) }
}

/** Distribution function of the normal distribution, Abramowitz and Stegun 26.2.17. */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series
}
