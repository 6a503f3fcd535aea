/** A step log for the terminal: one line per step, and on request the exchange below it. */
import type { Inspected, RequestView, StepView } from '@tollgate/core'
import { columns } from './command.ts'
import { harmless, oneLine, shownTime } from './shown-text.ts'

export type Shown = { readonly verbose: boolean; readonly colours: boolean }

const colour = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const
type Colour = keyof typeof colour

const bad = new Set([
  'declined',
  'failed',
  'dead',
  'conflict',
  'undecided',
  'missed',
  'expired',
  'unreversed',
  'late-failure',
])
const open = new Set([
  'unknown',
  'pending',
  'processing',
  'waiting',
  'retry',
  'notFound',
  'refused',
  'notSent',
])
const good = new Set(['approved', 'accepted', 'reversed', 'nothing', 'settled', 'completed'])

export function timeline(
  { kind, id, facts }: Omit<Inspected, 'steps'>,
  steps: readonly StepView[],
  { verbose, colours }: Shown,
): string[] {
  const paint = (text: string, name: Colour | undefined) =>
    colours && name !== undefined ? `\u001b[${colour[name]}m${text}\u001b[0m` : text
  const startMs = Date.parse(steps[0]?.at ?? '')
  const lines = [
    paint(`${kind} ${id}`, 'bold'),
    ...columns(Object.entries(facts).map(([name, value]) => [`  ${name}`, oneLine(value)])),
    `  begun ${shownTime(steps[0]?.at ?? '')}`,
    '',
  ]
  const rows = columns(
    steps.map((step) => [
      since(Date.parse(step.at) - startMs).padStart(14),
      (step.durationUs === undefined ? '' : lasted(step.durationUs)).padStart(9),
      step.name,
      oneLine(step.outcome ?? ''),
      oneLine(sentence(step)),
    ]),
  )
  steps.forEach((step, index) => {
    lines.push(paint(rows[index] ?? '', colourOf(step)))
    if (verbose) lines.push(...details(step).map((line) => paint(line, 'dim')))
  })
  return lines
}

function sentence({ by, text, about }: StepView): string {
  return [
    ...(by === undefined ? [] : [`by ${by}${text === '' ? '' : ':'}`]),
    text,
    ...(about === undefined || text.includes(about) ? [] : [`[${about}]`]),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function colourOf({ name, outcome = '' }: StepView): Colour | undefined {
  if (name === 'waits') return 'dim'
  if (bad.has(outcome)) return 'red'
  if (open.has(outcome)) return 'yellow'
  return good.has(outcome) ? 'green' : undefined
}

/** `+0.012 s`, `+3 h 20 min`: exact where things go fast. */
export function since(ms: number): string {
  const sign = ms < 0 ? '-' : '+'
  const abs = Math.abs(ms)
  if (abs < 60_000) return `${sign}${(abs / 1000).toFixed(3)} s`
  const minutes = Math.floor(abs / 60_000)
  if (minutes < 60) return `${sign}${minutes} min ${Math.floor((abs % 60_000) / 1000)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${sign}${hours} h ${minutes % 60} min`
  return `${sign}${Math.floor(hours / 24)} d ${hours % 24} h`
}

function lasted(us: number): string {
  const ms = us / 1000
  return ms < 10
    ? `${ms.toFixed(2)} ms`
    : ms < 10_000
      ? `${ms.toFixed(0)} ms`
      : `${(ms / 1000).toFixed(1)} s`
}

const indent = ' '.repeat(26)

function details(step: StepView): string[] {
  return [
    ...fields('sent', step.sent),
    ...fields('answered', step.answered),
    ...(step.requests ?? []).flatMap(requestLines),
  ]
}

function fields(title: string, values: Readonly<Record<string, string>> = {}): string[] {
  const rows = Object.entries(values).map(([name, value]) => [
    `${indent}${title} ${oneLine(name)}`,
    oneLine(value),
  ])
  return columns(rows)
}

function requestLines(request: RequestView): string[] {
  const { method, url, status, error, durationMs, wroteBytes, moves } = request
  const end = status === undefined ? (error ?? 'no response') : String(status)
  const notes = [...(moves ? ['moves money'] : []), ...(wroteBytes ? [] : ['no byte sent'])]
  return [
    `${indent}${method} ${oneLine(url)} -> ${end} in ${durationMs} ms${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`,
    ...message('>', request.sentHeaders, request.sentBody),
    ...message('<', request.answeredHeaders, request.answeredBody),
  ]
}

function message(
  sign: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string[] {
  const lines = [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${oneLine(value)}`),
    ...(body === '' ? [] : harmless(body).split('\n')),
  ]
  return lines.map((line) => `${indent}${sign} ${line}`)
}
