import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { handwritten, root, type Source, sources } from '../rig/sources.ts'
import { apart } from '../runner/plan.ts'

const product = ['schemas', 'plugins', 'core', 'connectors', 'host'].flatMap(sources)
const engine = sources('core')

function offenders(
  candidates: readonly Source[],
  pattern: RegExp,
  allowed: (file: string) => boolean,
): string[] {
  return candidates
    .filter(({ file, code }) => !allowed(file) && pattern.test(code))
    .map(({ file, code }) => `${file}: ${pattern.exec(code)?.[0].trim()}`)
}

test('SQL lives in stores, in core/db and in migrations', () => {
  const statement = /\bsql(<[^`]*>)?`|\b(select|insert into|delete from)\s[^'"]*\btollgate\./
  const isHome = (file: string) => /\/store[^/]*\.ts$/.test(file) || file.startsWith('core/db/')
  assert.deepEqual(offenders(engine, statement, isHome), [])
})

test('statements list their columns, because a cached plan breaks when a column is added', () => {
  const star = /select\s+(\w+\.)?\*\s+from\s+tollgate\.|returning\s+(payment|attempt)\.\*/
  assert.deepEqual(
    offenders(engine, star, () => false),
    [],
  )
})

test('no statement looks rows up by a conditional id: PostgreSQL 18 crashed where such a statement waited for a row', () => {
  const conditional = /\b(?:id|key|resource) = case\b/
  assert.deepEqual(
    offenders(engine, conditional, () => false),
    [],
  )
})

test('the engine reads time through its clock', () => {
  const time = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/
  const isClock = (file: string) => file === 'core/clock.ts' || file === 'core/ids.ts'
  assert.deepEqual(offenders(engine, time, isClock), [])
})

test('randomness comes from core/ids, core/crypto and the vault', () => {
  const random = /\b(Math\.random|randomUUID|randomBytes|randomInt|randomFillSync)\b/
  const isSource = (file: string) =>
    file === 'core/ids.ts' || /^core\/(?:vault|crypto)\//.test(file)
  assert.deepEqual(offenders(engine, random, isSource), [])
})

test('the engine touches the outside through core/net', () => {
  const outside =
    /(?<!\{ isIP \} )from '(node:https?|node:net|node:tls|node:dns(\/promises)?|got|undici)'|\bfetch\(/
  const isNet = (file: string) => file.startsWith('core/net/')
  assert.deepEqual(offenders(engine, outside, isNet), [])
})

test('the engine reads no environment variables, handles no signals and prints nothing', () => {
  assert.deepEqual(
    offenders(engine, /\bprocess\.(env|on|exit|argv)\b|\bconsole\./, () => false),
    [],
  )
})

test('no source suppresses types or skips tests', () => {
  const everywhere = [...product, ...sources('test'), ...sources('examples')]
  const given =
    /@ts-ignore|@ts-nocheck|\bas any[;,)\]]|\b(test|it|describe)\.only\(|\b(test|it)\.todo\(|\btest\.skip\(|skip: true/
  const isThis = (file: string) => file === 'test/rules/house.test.ts'
  assert.deepEqual(
    everywhere
      .filter(({ file, code }) => !isThis(file) && given.test(code))
      .map(({ file }) => file),
    [],
  )
})

test('every job begins with the reason why a second run is safe', () => {
  const jobs = engine.filter(
    ({ file, text }) => file.startsWith('core/jobs/') && /= ?(\(.*\) =>\s*)?defineJob</.test(text),
  )
  assert.ok(jobs.length >= 4)
  for (const { file, text } of jobs) assert.match(text, /\/\*\*[\s\S]*?Safe to run twice: /, file)
})

test('files have at most about 300 lines', () => {
  const long = product
    .filter(({ file }) => !/schemas\/tables\//.test(file))
    .map(({ file, text }) => ({ file, lines: text.split('\n').length }))
    .filter(({ lines }) => lines > 350)
  assert.deepEqual(long, [])
})

test('no file has a catch-all name', () => {
  const drawers = handwritten().filter((file) =>
    /(^|\/)(utils?|helpers?|common|misc)(\.|\/|$)/.test(file),
  )
  assert.deepEqual(drawers, [])
})

test('no source has open ends', () => {
  const marks = new RegExp(['TO', 'DO|FIX', 'ME|not imple', 'mented'].join(''))
  const open = handwritten()
    .filter((file) => /\.(ts|js|mjs|cjs|md|sql|json)$/.test(file) && file !== 'package-lock.json')
    .filter((file) => marks.test(readFileSync(path.join(root, file), 'utf8')))
  assert.deepEqual(open, [])
})

test('hooks of tests belong to a suite, because those of a file that shares a process last until its end', () => {
  const sharing = sources('test').filter(
    ({ file }) => file.endsWith('.test.ts') && !apart.test(file),
  )
  assert.ok(sharing.length > 100)
  const hook = /^(?:before|after|beforeEach|afterEach)\(|^(?:const|let) [^=\n]+= await /m
  assert.deepEqual(
    offenders(sharing, hook, () => false),
    [],
  )
})

test('packages have no top-level await, so that require() loads them', () => {
  const awaiting = product.filter(
    ({ file, code }) =>
      !/bin\/|\/generate\/main/.test(file) &&
      /^(await |const .* = await |export const .* = await )/m.test(code),
  )
  assert.deepEqual(
    awaiting.map(({ file }) => file),
    [],
  )
})
