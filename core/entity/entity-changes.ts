/** Creates, configures, closes and opens entities. What takes protection away needs two people where the installation says so. */
import { isDeepStrictEqual } from 'node:util'
import { type Actor, actorBy, type By } from '../audit/actor.ts'
import type { Lanes } from '../db/lanes.ts'
import type { ProposalUse } from '../four-eyes/stored-proposal.ts'
import { type Deed, ProposalError, type TwoPeople } from '../four-eyes/two-people.ts'
import { isId, newOpaqueId } from '../ids.ts'
import { Whole } from '../redaction/harmless.ts'
import { holdsCardNumber } from '../request/card-data.ts'
import type { AgreedChange, NewEntity } from './change.ts'
import { loosened, type Usual } from './protections.ts'
import { checkEntitySettings } from './settings.ts'
import { ancestries, type EntityKind, type EntityRow, entityById } from './store.ts'
import { addEntity, setClosed, setEntitySettings } from './store-change.ts'

type Settings = Readonly<Record<string, unknown>>

/** The kind of each entity's parent. */
const parentKind: Readonly<Record<EntityKind, EntityKind | null>> = {
  psp: null,
  division: 'psp',
  merchant: 'division',
  channel: 'merchant',
}

export class EntityChanges {
  readonly #lanes: Lanes
  readonly #two: TwoPeople
  readonly #usual: Usual

  constructor(lanes: Lanes, two: TwoPeople, usual: Usual) {
    this.#lanes = lanes
    this.#two = two
    this.#usual = usual
  }

  async create(entity: NewEntity, { by, proposal }: AgreedChange): Promise<string> {
    if (!Object.hasOwn(parentKind, entity?.kind ?? '')) {
      throw new Error(`kind must be ${Object.keys(parentKind).join(', ')}`)
    }
    const { kind, name, parentId, settings = {} } = entity
    const wanted = parentKind[kind]
    if (entity.id !== undefined && !isId(entity.id)) {
      throw new Error(`id "${entity.id}" is not 32 lower-case hex characters`)
    }
    if (wanted === null && parentId !== undefined) throw new Error('a psp has no parent')
    if (wanted !== null && (await this.#get(parentId))?.kind !== wanted) {
      throw new Error(`a ${kind} needs parentId, the id of a ${wanted}`)
    }
    checkName(name, kind)
    checkEntitySettings(settings)
    const id = entity.id ?? newOpaqueId()
    if (entity.id !== undefined && (await this.#get(id)) !== undefined) return id
    const parent = parentId ?? null
    const facts = { kind, name, parent, settings: new Whole(settings) }
    const above = merged(await this.#path(parentId))
    const deed = { kind: 'entity.create', entityId: parent, facts } as const
    const actor = actorBy(by)
    const use = await this.#agreed(deed, [above, { ...above, ...settings }], actor, proposal)
    const row = { id, parentId: parent, kind, name, settings }
    const [made] = await this.#lanes.single(addEntity(row, actor, use))
    // An entity that another call made at this moment, or this one before a lost answer, is there.
    if (made === undefined && (await this.#get(id)) === undefined) throw carriedOut(proposal)
    return id
  }

  async configure(id: string, settings: Settings, { by, proposal }: AgreedChange): Promise<void> {
    checkEntitySettings(settings, true)
    const actor = actorBy(by)
    for (;;) {
      const path = await this.#path(id)
      const [own, ...parents] = path
      if (own === undefined) throw unknown(id)
      const is = Object.entries({ ...own.settings, ...settings })
      const next = Object.fromEntries(is.filter(([, value]) => value !== null))
      const was = Object.keys(settings).map((name) => [name, own.settings[name] ?? null] as const)
      const facts = {
        ...{ entity: id, name: own.name },
        ...{ settings: new Whole(settings), was: new Whole(Object.fromEntries(was)) },
      }
      const inForce = [merged(path), merged([{ settings: next }, ...parents])] as const
      const deed = { kind: 'entity.configure', entityId: id, facts } as const
      const use = await this.#agreed(deed, inForce, actor, proposal)
      const [done] = await this.#lanes.single(
        setEntitySettings(id, settings, own.settings, actor, use),
      )
      if (done !== undefined) return
      // A repeat after a lost answer finds its own result; a change of somebody else is compared anew.
      if (isDeepStrictEqual((await this.#get(id))?.settings, next)) return
    }
  }

  async close(id: string, by: By): Promise<void> {
    await this.#setClosed(id, true, actorBy(by), null)
  }

  async open(id: string, by: By, proposal: string | undefined): Promise<void> {
    const actor = actorBy(by)
    const entity = await this.#get(id)
    if (entity === undefined) throw unknown(id)
    const facts = { entity: id, name: entity.name }
    const use = await this.#two.need({ kind: 'entity.open', entityId: id, facts }, actor, proposal)
    await this.#setClosed(id, false, actor, use)
  }

  async #setClosed(id: string, closed: boolean, by: Actor, use: ProposalUse | null) {
    const rows = isId(id) ? await this.#lanes.single(setClosed(id, closed, by, use)) : []
    if (rows.length > 0) return
    const entity = await this.#get(id)
    if (entity === undefined) throw unknown(id)
    if (entity.closed !== closed) throw carriedOut(use?.id)
  }

  /** The second person's agreement, where a change takes protection away. */
  async #agreed(
    deed: Deed,
    [before, after]: readonly [Settings, Settings],
    by: Actor,
    proposal: string | undefined,
  ): Promise<ProposalUse | null> {
    const loosens = loosened(before, after, this.#usual)
    if (loosens.length === 0) return null
    return this.#two.need({ ...deed, facts: { ...deed.facts, loosens } }, by, proposal)
  }

  async #get(id: string | undefined): Promise<EntityRow | undefined> {
    if (id === undefined || !isId(id)) return undefined
    const [row] = await this.#lanes.single(entityById(id))
    return row
  }

  /** An entity and those above it, itself first. */
  async #path(id: string | undefined): Promise<readonly EntityRow[]> {
    return id !== undefined && isId(id) ? this.#lanes.single(ancestries([id])) : []
  }
}

/** The settings in force at the first of these entities. */
const merged = (path: readonly Pick<EntityRow, 'settings'>[]): Settings =>
  Object.assign({}, ...path.map(({ settings }) => settings).reverse())

const unknown = (id: string) => new Error(`there is no entity ${id}`)

const carriedOut = (proposal: string | undefined) =>
  new ProposalError(`proposal ${proposal} was carried out before`)

/** Names are stored in clear, and the audit trail repeats them with every action. */
export function checkName(name: unknown, of: EntityKind | 'token'): void {
  if (typeof name !== 'string' || name.trim() === '') throw new Error(`a ${of} needs a name`)
  if (!name.isWellFormed() || name.includes('\0')) {
    throw new Error(`the name of a ${of} must have whole characters, and not U+0000`)
  }
  if (holdsCardNumber(name)) throw new Error(`the name of a ${of} must not hold a card number`)
}
