/** Requests of operators about acquirer accounts. Accounts outside of the person's entity answer 404. */
import { noSuchAccount } from '../merchant-account/fields.ts'
import { isWithin, notThere, wrong } from './grants.ts'
import type { Asked, Handled, Handler, OfficeParts } from './office-types.ts'
import { pageOf, rowsOf, textsOf } from './office-values.ts'
import { actorOfPerson, type Person } from './types.ts'

type AccountRequest = Extract<Handled, `accounts.${string}`>

/** A request about one account, which the person may see. */
const aboutOne =
  (work: (parts: OfficeParts, asked: Asked, change: Agreed) => Promise<object>): Handler =>
  async (parts, person, asked) => {
    const channel = await parts.accounts.channelOf(asked.id)
    if (!(await isWithin(parts.engine, person, channel))) throw noSuchAccount()
    return work(parts, asked, agreed(person, asked))
  }

type Agreed = { readonly by: ReturnType<typeof actorOfPerson>; readonly proposal?: string }

const agreed = (person: Person, { values: { proposal } }: Asked): Agreed => ({
  by: actorOfPerson(person),
  ...(proposal === undefined ? {} : { proposal }),
})

/** Empty for all brands, which no misspelt list stands for. @throws GatewayError */
function brandsOf(text: string): string[] {
  if (text === 'all') return []
  const brands = text.split(',').map((brand) => brand.trim())
  if (!brands.includes('')) return brands
  throw wrong('brands', 'must be a list of brands, separated by commas, or all')
}

/** The engine names the range. */
const positionOf = (text: string): number => (/^[0-9]+$/.test(text) ? Number(text) : Number.NaN)

export const accountHandlers: Readonly<Record<AccountRequest, Handler>> = {
  'accounts.list': async ({ engine, accounts }, person, { values }) => {
    const entityId = values.entityId ?? person.entityId
    if (entityId !== null && !(await isWithin(engine, person, entityId))) throw notThere()
    const limit = rowsOf(values)
    const rows = await accounts.list({ entityId, after: values.after ?? null, limit })
    return pageOf('accounts', rows, limit)
  },
  'accounts.show': aboutOne(async ({ accounts }, { id }) => ({ account: await accounts.show(id) })),
  'accounts.add': async ({ engine, accounts }, person, asked) => {
    const { channelId = '', connector = '', mode, brands, settings } = asked.values
    if (!(await isWithin(engine, person, channelId))) throw notThere()
    const account = {
      channelId,
      connector,
      mode: mode === 'LIVE' ? ('LIVE' as const) : ('EXTERNAL' as const),
      ...(brands === undefined ? {} : { brands: brandsOf(brands) }),
      settings: textsOf(settings),
    }
    return { id: await accounts.add(account, agreed(person, asked)) }
  },
  'accounts.set': aboutOne(async ({ accounts }, { id, values }, change) => {
    const { brands, position, settings } = values
    const edit = {
      ...(brands === undefined ? {} : { brands: brandsOf(brands) }),
      ...(position === undefined ? {} : { position: positionOf(position) }),
      ...(settings === undefined ? {} : { settings: textsOf(settings) }),
    }
    await accounts.set(id, edit, change)
    return {}
  }),
  'accounts.rotate': aboutOne(async ({ accounts }, { id, values }, change) => {
    await accounts.rotate(id, textsOf(values.secrets), change)
    return {}
  }),
  'accounts.check': aboutOne(async ({ accounts }, { id }, { by }) => ({
    check: await accounts.check(id, { by }),
  })),
  'accounts.disable': aboutOne(async ({ accounts }, { id }, change) => {
    await accounts.disable(id, change)
    return {}
  }),
  'accounts.enable': aboutOne(async ({ accounts }, { id }, change) => {
    await accounts.enable(id, change)
    return {}
  }),
}
