/** The settlement part of a connector, checked at the start. */
import { PluginError, type Settlement } from '@tollgate/plugin-kit'
import { zoneNamed } from '../cron/zone.ts'

const longest = { format: 32, institute: 64, ref: 64 }
const mostRefs = 3

/** @throws PluginError that names the field and what it has to be. */
export function checkSettlement(where: string, settlement: Settlement): void {
  const wrong = (field: string, expected: string) =>
    new PluginError('bad-settlement', `${where}: settlement.${field} must be ${expected}.`)
  if (typeof settlement !== 'object' || settlement === null) {
    throw new PluginError('bad-settlement', `${where}: settlement must be an object.`)
  }
  for (const field of ['format', 'institute'] as const) {
    if (isName(settlement[field], longest[field])) continue
    throw wrong(field, `a text of 1 to ${longest[field]} characters`)
  }
  for (const field of ['merchantOf', 'parse'] as const) {
    if (typeof settlement[field] !== 'function') throw wrong(field, 'a function')
  }
  for (const field of ['fetch', 'writeDay'] as const) {
    if (settlement[field] === undefined || typeof settlement[field] === 'function') continue
    throw wrong(field, 'a function, or absent')
  }
  const { refs } = settlement
  const areNames = Array.isArray(refs) && refs.every((name) => isName(name, longest.ref))
  if (!areNames || refs.length > mostRefs || new Set(refs).size < refs.length) {
    throw wrong('refs', `a list of at most ${mostRefs} different names of references`)
  }
  if (!isZone(settlement.zone)) throw wrong('zone', 'an IANA time zone such as Europe/Berlin')
}

const isName = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.trim() === value && value !== '' && value.length <= most

function isZone(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    zoneNamed(value)
    return true
  } catch {
    return false
  }
}
