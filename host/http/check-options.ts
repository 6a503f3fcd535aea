/** The options of `createHost` and `createFetchHandler`: a program learns of all its mistakes at once. */
import { type Gateway, type OptionProblem, OptionsError, optionForms, Pods } from '@tollgate/core'
import { surfaces } from '@tollgate/schemas'
import { compile } from 'proxy-addr'
import type { AnswerBudgetOptions } from './answer-budget.ts'
import type { BodyBudgetOptions, BodyRoom } from './body-budget.ts'
import type { FetchOptions } from './fetch.ts'
import type { HostOptions } from './host.ts'
import type { SurfaceOptions } from './parts.ts'
import type { ListenAddress, ServerLimits } from './server.ts'
import type { ThrottleOptions } from './throttle.ts'

type Form = optionForms.Form
type Named<Options> = optionForms.Named<Options>
const { flag, group, having, isGroup, problemsOf, shown, text, webAddress, whole } = optionForms

const amount = whole(1, Number.MAX_SAFE_INTEGER)
const duration = whole(0, 2 ** 31 - 1)

const surfaceList: Form = (value) => {
  const names = surfaces.map((name) => `'${name}'`).join(', ')
  if (!Array.isArray(value)) return `must be a list of ${names}, not ${shown(value)}`
  const unknown = value.filter((one) => !(surfaces as readonly unknown[]).includes(one))
  return unknown.length === 0
    ? undefined
    : `must be a list of ${names}, and has ${unknown.map(shown).join(', ')}`
}

const proxies: Form = (value) => {
  const such = "addresses or subnets such as '10.0.0.0/8', or 'loopback'"
  if (!Array.isArray(value)) return `must be a list of ${such}, not ${shown(value)}`
  const wrong = value.filter((one) => !isProxy(one))
  return wrong.length === 0
    ? undefined
    : `must be a list of ${such}, and has ${wrong.map(shown).join(', ')}`
}

function isProxy(value: unknown): boolean {
  try {
    compile([value as string])
    return typeof value === 'string'
  } catch {
    return false
  }
}

const path: Form = (value) =>
  value === '' || (typeof value === 'string' && /^(\/[^/?#\s]+)+$/.test(value))
    ? undefined
    : `must be a path such as /pay, without a slash at its end, not ${shown(value)}`

const surfaceForms: Named<SurfaceOptions> = {
  log: having('info', 'warn'),
  throttle: group,
  bodies: group,
  answers: group,
  trustedProxy: proxies,
  proxyOnly: flag,
  surfaces: surfaceList,
  origins: group,
}

const hostForms: Named<HostOptions> = {
  ...surfaceForms,
  host: text,
  port: whole(0, 65_535),
  tls: group,
  limits: group,
  shutdownGraceMs: duration,
}

const fetchForms: Named<FetchOptions> = { ...surfaceForms, basePath: path }

const room: Named<BodyRoom> = { bytes: amount, clientBytes: amount, lateBytes: amount }
const bodies: Named<BodyBudgetOptions> = {
  payments: group,
  strangers: group,
  operators: group,
  stalledMs: duration,
  nowMs: (value) => (typeof value === 'function' ? undefined : 'must be a function'),
}
const throttle: Named<ThrottleOptions> = { writesPerSecond: amount, readsPerSecond: amount }
const answers: Named<AnswerBudgetOptions> = {
  bytes: amount,
  clientBytes: amount,
  silenceMs: duration,
}
const limits: Named<ServerLimits> = {
  headersTimeoutMs: duration,
  requestTimeoutMs: duration,
  keepAliveTimeoutMs: duration,
  connections: amount,
  connectionsPerAddress: amount,
  silenceMs: duration,
}
const tls: Named<NonNullable<ListenAddress['tls']>> = { certificateFile: text, keyFile: text }
const origins = Object.fromEntries(surfaces.map((name) => [name, webAddress]))

type Forms = Readonly<Record<string, Form>>
/** The options that are objects themselves. */
const inner: Readonly<Record<string, Forms>> = {
  ...{ throttle, bodies, answers, limits, tls, origins },
}
/** Those within them. A room has all of its sizes: without one of them it would have no bound. */
const rooms = ['payments', 'strangers', 'operators'] as const satisfies (keyof BodyBudgetOptions)[]

const forms = { createHost: hostForms, createFetchHandler: fetchForms }

/** @throws OptionsError naming every option that is unknown or wrong, and a gateway that is none. */
export function checkHostOptions(
  what: keyof typeof forms,
  served: Gateway | Pods,
  options: HostOptions | FetchOptions,
): void {
  const isGateway =
    served instanceof Pods || having('call', 'refuse', 'authenticate')(served) === undefined
  const problems: OptionProblem[] = isGateway
    ? []
    : [{ option: 'gateway', message: `must come from createGateway, and is ${shown(served)}` }]
  if (!isGroup(options)) {
    problems.push({ option: 'options', message: `must be an object, not ${shown(options)}` })
  } else {
    problems.push(...problemsOf('', options, forms[what], []))
    for (const [name, own] of Object.entries(inner)) {
      const given = (options as optionForms.Group)[name]
      if (name in forms[what] && isGroup(given))
        problems.push(...problemsOf(`${name}.`, given, own, []))
    }
    const { bodies: given } = options as optionForms.Group
    for (const name of rooms) {
      const sizes = isGroup(given) ? given[name] : undefined
      if (isGroup(sizes))
        problems.push(...problemsOf(`bodies.${name}.`, sizes, room, Object.keys(room)))
    }
  }
  if (problems.length > 0) throw new OptionsError(problems, what)
}

/** @throws OptionsError for arguments of `listen`, as Node's and Express's own have them. */
export function refuseArguments(given: readonly unknown[]): void {
  if (given.every((one) => one === undefined)) return
  const [first] = given
  const port = isGroup(first) ? first.port : first
  const such = Number.isInteger(port) ? String(port) : '8080'
  const message = `takes no arguments: createHost(gateway, { host: '127.0.0.1', port: ${such} }).listen()`
  throw new OptionsError([{ option: 'listen', message }], 'createHost')
}
