import type { Field } from '../table.ts'

/**
 * Flat wire names as a tree: `card.number` is `number` in the object `card`, `cart.items[n].sku` is
 * `sku` in every element of the list `items` in `cart`, `customParameters[name]` is any key of the
 * object `customParameters`. Other bracketed names, as in `schemeData[CB-USECASE]`, are fixed keys.
 */
export type Tree = Value | Shape | List

export type Value = { kind: 'value'; field: Field }

export type Shape = {
  kind: 'object'
  /** Wire name of the group without index numbers, `''` for the request itself. */
  path: string
  members: Map<string, Tree>
  /** The field whose `[name]` allows further keys. */
  free?: Field
}

export type List = { kind: 'list'; path: string; maxIndex: number; item: Value | Shape }

/** One step of a wire name. */
export type Step =
  | { kind: 'key'; key: string; bracketed: boolean }
  | { kind: 'index' }
  | { kind: 'free' }

const defaultMaxIndex = 99

/** Splits the name of a table row into its steps. */
export function stepsOf(field: Field): Step[] {
  const steps: Step[] = []
  for (const [, bracketed, plain] of field.name.matchAll(/\[([^[\]]+)\]|\.?([^.[]+)/g)) {
    if (bracketed === 'n') steps.push({ kind: 'index' })
    else if (bracketed === undefined) {
      steps.push({ kind: 'key', key: plain as string, bracketed: false })
    } else if (bracketed === 'name' || field.options.key !== undefined) {
      steps.push({ kind: 'free' })
    } else steps.push({ kind: 'key', key: bracketed, bracketed: true })
  }
  return steps
}

const shape = (path: string): Shape => ({ kind: 'object', path, members: new Map() })

/**
 * Builds the tree of the fields. Throws for contradicting tables: one name as a value and as a
 * group, or two rows for one name.
 */
export function treeOf(fields: readonly Field[]): Shape {
  const root = shape('')
  for (const field of fields) insert(root, field)
  return root
}

function insert(root: Shape, field: Field): void {
  const contradiction = (path: string) =>
    new Error(`the tables use ${path} both as a value and as a group (row ${field.name})`)
  const steps = stepsOf(field)
  let at: Shape = root
  let path = ''
  for (let position = 0; position < steps.length; position++) {
    const step = steps[position] as Step
    if (step.kind === 'free') {
      if (position !== steps.length - 1) throw new Error(`${field.name}: [name] must stand last`)
      if (at.free !== undefined) throw new Error(`two rows for ${field.name}`)
      at.free = field
      return
    }
    if (step.kind === 'index') throw new Error(`${field.name}: [n] must follow a name`)
    path += step.bracketed ? `[${step.key}]` : path === '' ? step.key : `.${step.key}`
    const existing = at.members.get(step.key)
    if (steps[position + 1]?.kind === 'index') {
      position++
      path += '[n]'
      const list = existing ?? { kind: 'list', path, maxIndex: 0, item: shape(path) }
      if (list.kind !== 'list') throw contradiction(path)
      list.maxIndex = Math.max(list.maxIndex, field.options.maxIndex ?? defaultMaxIndex)
      at.members.set(step.key, list)
      if (position === steps.length - 1) {
        if (existing !== undefined) throw contradiction(path)
        list.item = { kind: 'value', field }
        return
      }
      if (list.item.kind !== 'object') throw contradiction(path)
      at = list.item
    } else if (position === steps.length - 1) {
      if (existing?.kind === 'value') throw new Error(`two rows for ${field.name}`)
      if (existing !== undefined) throw contradiction(path)
      at.members.set(step.key, { kind: 'value', field })
    } else {
      const group = existing ?? shape(path)
      if (group.kind !== 'object') throw contradiction(path)
      at.members.set(step.key, group)
      at = group
    }
  }
}
