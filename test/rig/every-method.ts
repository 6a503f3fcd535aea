/** Every method of a gateway and of its parts, for tests that no new method may miss. */
import { answersAlways } from '../../core/gateway-guard.ts'
import type { Gateway } from '../../core/index.ts'

/** Names of methods, also of those that classes share with their instances. */
function methodsOf(part: object): string[] {
  const names = new Set<string>()
  for (let one = part; one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) {
      if (name === 'constructor') continue
      const isGetter = Object.getOwnPropertyDescriptor(one, name)?.get !== undefined
      if (!isGetter && typeof Reflect.get(part, name) === 'function') names.add(name)
    }
  }
  return [...names]
}

const partsOf = (part: object): [string, object][] =>
  Object.entries(part).filter(([, one]) => typeof one === 'object' && one !== null)

/** Such as `payments.create` and `entities.dispatching.add`, without those that answer at any time. */
export function everyMethod(gateway: Gateway): string[] {
  const below = (prefix: string, part: object): string[] => [
    ...methodsOf(part).map((method) => `${prefix}${method}`),
    ...partsOf(part).flatMap(([name, one]) => below(`${prefix}${name}.`, one)),
  ]
  return below('', gateway)
    .filter((path) => !answersAlways.has(path))
    .sort()
}

export function callMethod(gateway: Gateway, path: string, given: readonly unknown[]): unknown {
  const names = path.split('.')
  const name = names.pop() ?? ''
  const part = names.reduce<object>((one, next) => Reflect.get(one, next), gateway)
  return Reflect.apply(Reflect.get(part, name), part, given)
}
