/**
 * A mistake in one of the engine's sources. It names the declaration that it is in and a small text in there:
 * where that stands, and what else changes around it, does not matter.
 */
import { type Source, sources } from '../rig/sources.ts'

export type Patch = {
  /** A declaration of core, `acceptFirst`, or the member of a class, `Sender.#settle`. */
  readonly of: string
  /** The file below core, where several declare it. */
  readonly in?: string
  /** Stands there once, however its lines are broken. */
  readonly find: string
  readonly put: string
}

/** A patch and the file whose text it changes. */
export type PlacedPatch = Patch & { readonly file: string }

/** Tells a host process which mistakes it makes. */
export const mutantVariable = 'TOLLGATE_FAULTS_MUTANT'

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Where a declaration at the margin ends: at the next one, or at its comment. */
const nextDeclaration =
  /^(?:export |import |async |abstract |function |const |let |class |type |interface |\/\*\*|\/\/)/m
const endOfMember = /^ {2}[}\]]/m

/** The text of a declaration, from its name on. */
function declarationIn(source: string, name: string): string | undefined {
  const [outer = '', member] = name.split('.', 2)
  const start = new RegExp(
    `^(?:export )?(?:async )?(?:abstract )?(?:function|const|let|class) ${escaped(outer)}\\b`,
    'm',
  ).exec(source)
  if (start === null) return undefined
  const whole = upTo(source.slice(start.index), nextDeclaration)
  if (member === undefined) return whole
  const startOfMember = new RegExp(
    `^ {2}(?:static |async |get |readonly )*${escaped(member)}\\b`,
    'm',
  )
  const memberStart = startOfMember.exec(whole)
  return memberStart === null ? undefined : upTo(whole.slice(memberStart.index), endOfMember)
}

function upTo(text: string, end: RegExp): string {
  const length = text.slice(1).search(end)
  return length === -1 ? text : text.slice(0, length + 1)
}

const readings = (find: string) =>
  new RegExp(find.trim().split(/\s+/).map(escaped).join('\\s+'), 'g')

/**
 * The source with the mistake in it.
 *
 * @throws Error with a sentence that says why the patch does not fit.
 */
export function withMistake(source: string, { of, find, put }: Patch): string {
  const declaration = declarationIn(source, of)
  if (declaration === undefined) throw new Error(`core declares no ${of}`)
  const count = [...declaration.matchAll(readings(find))].length
  if (count !== 1) {
    const times = count === 0 ? 'does not hold' : `holds ${count} times, not once,`
    throw new Error(`${of} ${times} the text ${JSON.stringify(find)}`)
  }
  const mistaken = declaration.replace(readings(find), () => put)
  return source.replace(declaration, () => mistaken)
}

let core: readonly Source[] | undefined

/**
 * Finds the file of a patch.
 *
 * @throws Error with a sentence that says why the patch does not fit.
 */
export function place(patch: Patch): PlacedPatch {
  core ??= sources('core')
  const declaring = core.filter(
    ({ file, text }) =>
      (patch.in === undefined || file === `core/${patch.in}`) &&
      declarationIn(text, patch.of) !== undefined,
  )
  const [source, other] = declaring
  if (source === undefined) throw new Error(`core declares no ${patch.of}`)
  if (other !== undefined) {
    throw new Error(`${source.file} and ${other.file} both declare ${patch.of}`)
  }
  withMistake(source.text, patch)
  return { ...patch, file: source.file }
}
