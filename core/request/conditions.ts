import type { Condition, Operation, Presence } from '@tollgate/schemas'
import type { ParameterErrors } from './parameter-errors.ts'
import type { Nested } from './request.ts'

/** Checks the conditions of an operation's tables, and notes the fields that break them. */
export type CheckConditions = (request: Nested, errors: ParameterErrors) => void

/**
 * One object that conditions read: the request, or one element of a list when all their names lie
 * in that list.
 */
type Scope = { readonly at: Nested; readonly prefix: string }
type Rule = (scope: Scope, errors: ParameterErrors) => void

/**
 * Prepares the conditions. A condition that names a field outside of the operation treats it as
 * absent, and no error asks the client to send it.
 */
export function conditionsOf(
  operation: Operation,
  conditions: readonly Condition[] = operation.conditions,
): CheckConditions {
  const accepted = new Set(operation.fields.map((field) => field.name))
  const rules = conditions
    .map((condition) => withoutUnaccepted(condition, accepted))
    .filter((condition) => condition !== undefined)
    .map((condition) => {
      const list = listOf(condition)
      const rule = ruleOf(condition, list)
      return { list: list === '' ? undefined : accessor(list.slice(0, -'[n].'.length)), rule }
    })
  return (request, errors) => {
    const whole = { at: request, prefix: '' }
    for (const { list, rule } of rules) {
      if (list === undefined) {
        rule(whole, errors)
        continue
      }
      const elements = list.read(request)
      if (!Array.isArray(elements)) continue
      for (const [index, element] of elements.entries()) {
        if (typeof element === 'object') {
          rule({ at: element, prefix: `${list.name}[${index}].` }, errors)
        }
      }
    }
  }
}

/** The names in a condition, or undefined when the operation can never meet or break it. */
function withoutUnaccepted(
  condition: Condition,
  accepted: ReadonlySet<string>,
): Condition | undefined {
  const keep = (names: readonly string[]) => names.filter((name) => accepted.has(name))
  switch (condition.rule) {
    case 'requires':
    case 'implies':
    case 'mandatory': {
      const need = keep(condition.need)
      return need.length === 0 ? undefined : { ...condition, need }
    }
    case 'any':
    case 'at-least-one': {
      const of = keep(condition.of)
      return of.length === 0 ? undefined : { ...condition, of }
    }
    case 'not-together':
      return condition.of.every((name) => accepted.has(name)) ? condition : undefined
    default:
      return condition
  }
}

function namesIn(condition: Condition): string[] {
  switch (condition.rule) {
    case 'requires':
      return [
        ...condition.when,
        ...condition.need,
        ...[condition.onlyIf, condition.unless].flatMap((presence) =>
          presence === undefined ? [] : [presence.field],
        ),
      ]
    case 'any':
      return [
        ...condition.when,
        ...condition.of,
        ...(condition.unless ? [condition.unless.field] : []),
      ]
    case 'implies':
      return [condition.when.field, ...condition.need]
    case 'mandatory':
      return [...condition.need, ...(condition.unless ? [condition.unless.field] : [])]
    case 'not-digits-only':
      return [...condition.of, ...(condition.ignoring ? [condition.ignoring.when] : [])]
    default:
      return [...condition.of]
  }
}

/** `cart.items[n].` when every name of the condition lies in that list, else `''`. */
function listOf(condition: Condition): string {
  const lists = namesIn(condition).map((name) => /^[^[]*\[n\]\./.exec(name)?.[0] ?? '')
  const [first = ''] = lists
  return lists.every((list) => list === first) ? first : ''
}

type Accessor = { readonly name: string; readonly read: (at: Nested) => unknown }

/** Reads the value at a dotted name; a list counts as present when it has elements. */
function accessor(name: string): Accessor {
  const path = name.replaceAll(/\[([^[\]]+)\]/g, '.$1').split('.')
  return {
    name,
    read(at) {
      let value: unknown = at
      for (const key of path) {
        if (typeof value !== 'object' || value === null) return undefined
        value = (value as Nested)[key]
      }
      return value
    },
  }
}

const isPresent = (field: Accessor, at: Nested) => field.read(at) !== undefined

function ruleOf(condition: Condition, list: string): Rule {
  const field = (name: string) => accessor(name.slice(list.length))
  const fields = (names: readonly string[]) => names.map(field)
  const { message, code } = condition
  const refuse = (names: readonly Accessor[], { prefix }: Scope, errors: ParameterErrors) => {
    for (const { name } of names) errors.add(prefix + name, message, { code })
  }
  const holds = (presence: Presence | undefined, otherwise: boolean) => {
    if (presence === undefined) return () => otherwise
    const { is } = presence
    const { read } = field(presence.field)
    return ({ at }: Scope) => {
      const value = read(at)
      return value !== undefined && (is === undefined || is.includes(value as string))
    }
  }
  const missing = (need: readonly Accessor[], { at }: Scope) =>
    need.filter((one) => !isPresent(one, at))

  switch (condition.rule) {
    case 'requires': {
      const [when, need] = [fields(condition.when), fields(condition.need)]
      const [onlyIf, unless] = [holds(condition.onlyIf, true), holds(condition.unless, false)]
      return (scope, errors) => {
        if (!when.some((one) => isPresent(one, scope.at))) return
        if (onlyIf(scope) && !unless(scope)) refuse(missing(need, scope), scope, errors)
      }
    }
    case 'any': {
      const [when, of] = [fields(condition.when), fields(condition.of)]
      const unless = holds(condition.unless, false)
      return (scope, errors) => {
        const isBroken =
          when.some((one) => isPresent(one, scope.at)) && missing(of, scope).length === of.length
        if (isBroken && !unless(scope)) refuse(of, scope, errors)
      }
    }
    case 'implies': {
      const [applies, need] = [holds(condition.when, false), fields(condition.need)]
      return (scope, errors) => {
        if (applies(scope)) refuse(missing(need, scope), scope, errors)
      }
    }
    case 'mandatory': {
      const [need, unless] = [fields(condition.need), holds(condition.unless, false)]
      return (scope, errors) => {
        if (!unless(scope)) refuse(missing(need, scope), scope, errors)
      }
    }
    case 'at-least-one': {
      const of = fields(condition.of)
      return (scope, errors) => {
        if (missing(of, scope).length === of.length) refuse(of, scope, errors)
      }
    }
    case 'not-together': {
      const of = fields(condition.of)
      return (scope, errors) => {
        if (of.every((one) => isPresent(one, scope.at))) refuse(of, scope, errors)
      }
    }
    case 'not-digits-only': {
      const of = fields(condition.of)
      const ignoring = condition.ignoring
      const ignores = holds(ignoring && { field: ignoring.when }, false)
      const ignored = new Set(ignoring?.of.map((name) => name.slice(list.length)))
      return (scope, errors) => {
        const counted = ignores(scope) ? of.filter(({ name }) => !ignored.has(name)) : of
        const present = counted.filter((one) => isPresent(one, scope.at))
        const text = present.map(({ read }) => String(read(scope.at))).join('')
        if (/[0-9]/.test(text) && !/[^0-9\s]/.test(text)) refuse(present, scope, errors)
      }
    }
  }
}
