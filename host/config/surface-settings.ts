/** The surfaces and origins of a process, and the actions for two people. */
import { unfitFieldsUrl } from '@tollgate/core/early'
import { type Surface, surfaces } from '@tollgate/schemas'
import { unfitOrigin } from '../http/session-cookie.ts'
import type { Origins } from '../http/surfaces.ts'
import { defaultSurfaces } from '../http/surfaces.ts'

export const surfaceSettings = [
  {
    name: 'surface',
    env: 'TOLLGATE_SURFACE',
    format: { kind: 'text' },
    meaning:
      'Surfaces that this process serves, separated by commas: merchant (API for shops, events from acquirers), fields (card fields of the widget), office (API for operators). Default: all in test, all but office on live.',
  },
  {
    name: 'fieldsUrl',
    env: 'TOLLGATE_FIELDS_URL',
    format: { kind: 'url', schemes: ['http', 'https'] },
    meaning:
      "Origin of the widget's card fields: https://fields.example.com. Under this name the host answers nothing else, so a script that got into another page cannot read them. Differs from TOLLGATE_PUBLIC_URL. Required for checkouts on live, with https://; in test, without one, the fields are at the listening address.",
  },
  {
    name: 'officeUrl',
    env: 'TOLLGATE_OFFICE_URL',
    format: { kind: 'url', schemes: ['http', 'https'] },
    meaning:
      'Origin under which operators reach the surface office: https://office.example.com. Required to serve that surface, except on the loopback interface in test.',
  },
  {
    name: 'fourEyes',
    env: 'TOLLGATE_FOUR_EYES',
    format: { kind: 'flag' },
    default: 'false',
    meaning:
      'Require two people, one to propose and one to confirm, for access tokens, acquirer accounts, data key rotations and changes to operators who administer.',
  },
] as const

type Said = {
  readonly environment: 'test' | 'live'
  readonly role: string
  readonly surface?: string
  readonly publicUrl?: string
  readonly fieldsUrl?: string
  readonly officeUrl?: string
  readonly fourEyes: boolean
  readonly demo?: boolean
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

export const surfacesFrom = ({ environment, surface }: Said): readonly Surface[] => {
  if (surface === undefined) return defaultSurfaces(environment)
  const names = listed(surface)
  return surfaces.filter((one) => names.includes(one))
}

export const originsFrom = ({ publicUrl, fieldsUrl, officeUrl }: Said): Origins => ({
  merchant: publicUrl,
  fields: fieldsUrl,
  office: officeUrl,
})

/** Settings that are valid alone and contradict each other. */
export function surfaceContradictions(settings: Said): string[] {
  const problems: string[] = []
  const { environment, officeUrl, surface } = settings
  const names = surface === undefined ? undefined : listed(surface)
  const unknown = names?.filter((name) => !surfaces.some((one) => one === name)) ?? []
  if (unknown.length > 0 || names?.length === 0) {
    problems.push(
      `TOLLGATE_SURFACE is "${surface}": expected ${surfaces.join(', ')}, separated by commas`,
    )
  }
  const unfit = unfitFieldsUrl(settings, {
    fieldsUrl: 'TOLLGATE_FIELDS_URL',
    publicUrl: 'TOLLGATE_PUBLIC_URL',
  })
  if (unfit !== undefined) problems.push(unfit)
  const why = officeUrl === undefined ? undefined : unfitOrigin(officeUrl, environment)
  if (why !== undefined) problems.push(`TOLLGATE_OFFICE_URL is "${officeUrl}": it ${why}`)
  const servesOffice = settings.role !== 'worker' && surfacesFrom(settings).includes('office')
  if (servesOffice && officeUrl === undefined && environment === 'live') {
    problems.push(
      'TOLLGATE_OFFICE_URL is not set, but this process serves the surface office: set the origin under which operators reach it, such as https://office.example.com',
    )
  }
  if (settings.fourEyes && settings.demo === true) {
    problems.push(
      'TOLLGATE_FOUR_EYES and TOLLGATE_DEMO are both true: a demo channel would get a token without a second person',
    )
  }
  return problems
}
