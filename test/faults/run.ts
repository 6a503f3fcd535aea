/**
 * One run: the environment, the hosts, the merchants, the faults, the quiet afterwards, and the
 * verdict.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Ground, layGround } from '../rig/installation/ground.ts'
import { assertions, type Violation } from './assertions.ts'
import { Crew } from './crew.ts'
import { approveExpired, ownUp } from './events.ts'
import { confirmUndosUntil } from './failures.ts'
import { openFollower } from './follower.ts'
import { History } from './history.ts'
import type { Done, Scene } from './injections.ts'
import { balanceBetween } from './line.ts'
import { openShops } from './merchants.ts'
import { openOperators } from './operators.ts'
import { fillOracle, openOracle } from './oracle.ts'
import { startPatroni } from './patroni.ts'
import { isOfSettlement, type Planned, planOf } from './plan.ts'
import { startPair } from './postgres-pair.ts'
import type { Profile } from './profiles.ts'
import { Receivers } from './receivers.ts'
import { type Report, shortcomings } from './report.ts'
import { openSchedulers } from './schedulers.ts'
import { Settlements } from './settlements.ts'
import { openShopPage } from './shop-page.ts'
import { ShopperHistory } from './shopper-history.ts'
import { openShoppers, type Shoppers } from './shoppers.ts'
import { spokenOf } from './spoken.ts'
import { listen, tellAgain } from './telling.ts'
import { timelineOf } from './timeline.ts'
import { few, filesWithinMs, follow, makeUp } from './timing.ts'
import { Watch } from './watch.ts'

export type RunOptions = {
  readonly seed: number
  readonly profile: Profile
  /** Prints one line. */
  readonly say: (line: string) => void
  /** Modules that every host loads first, for mutants. */
  readonly preload?: readonly string[]
  /** Replaces the plan of the seed. */
  readonly plan?: readonly Planned[]
  /** The merchants continue until they have this many outcomes, for at most four times as long. */
  readonly leastWords?: number
  /** Time for all decisions after the merchants stopped. */
  readonly quietWithinMs?: number
  /** Maximum number of attempts of a merchant for a wish. */
  readonly mostTries?: number
  /** Share of plain payments among the merchants' stories, 0 to 1. */
  readonly plainShare?: number
  /** Share of stories at the acquirer without reversals by key, 0 to 1. */
  readonly plainChannelShare?: number
  /** Unused faults of the acquirer remain planned in the quiet. */
  readonly keepsAcquirerFaults?: boolean
  /** Rejects when the run has to end before its time. */
  readonly interrupted?: Promise<never>
  /** Statements to run on the database before the start. */
  readonly prepare?: readonly string[]
}

export async function runFaults(options: RunOptions): Promise<Report> {
  const { replication, patroni: setup } = options.profile
  const pair = replication === undefined ? undefined : await startPair(replication)
  const patroni = setup === undefined ? undefined : await startPatroni(setup)
  const given = pair ?? patroni
  const ground = await layGround({
    ownPostgres: true,
    ownAcquirer: true,
    cuttable: true,
    preload: options.preload ?? [],
    ...(given === undefined ? {} : { given }),
  })
  const crew = new Crew(ground)
  const receivers = new Receivers(crew, ground.sql, join(ground.cluster.folder, 'received'))
  try {
    const run = runOn(
      {
        ...{ ground, crew, receivers, settlements: new Settlements(ground) },
        ...(pair === undefined ? {} : { pair }),
        ...(patroni === undefined ? {} : { patroni }),
      },
      options,
    )
    const { interrupted } = options
    return await (interrupted === undefined ? run : Promise.race([run, interrupted]))
  } finally {
    await receivers.close()
    await crew.close()
    await ground.close()
  }
}

async function runOn(given: Omit<Scene, 'history'>, options: RunOptions): Promise<Report> {
  const { ground, crew, receivers } = given
  const { seed, profile, say } = options
  const forMs = profile.minutes * 60_000
  const plan =
    options.plan ??
    planOf({
      seed,
      forMs,
      gapMs: profile.gapMs,
      ...(profile.only === undefined ? {} : { only: profile.only }),
      leaderFaults: profile.patroni?.faults,
    })
  await openOracle(ground.sql)
  for (const statement of options.prepare ?? []) await ground.sql(statement)
  const history = new History(join(ground.cluster.folder, 'history'))
  const scene: Scene = { ...given, history }
  await crew.start()
  await listen(scene)
  await receivers.open(profile.tellsPaymentsOnce === true)
  say(
    `seed ${seed}, profile ${profile.name}: ${plan.length} faults in ${Math.round(forMs / 1000)} s, ${profile.merchants} merchants, 3 hosts`,
  )
  const startedMs = performance.now()
  balanceBetween(profile.merchants)
  const open = (count: number, firstNo: number) =>
    openShops({
      seed,
      count,
      firstNo,
      line: crew,
      history,
      mostTries: options.mostTries ?? mostTries,
      plainShare: options.plainShare ?? plainShare,
      plainChannelShare: options.plainChannelShare ?? plainChannelShare,
    })
  const shops = open(profile.merchants, 0)
  const schedulers = openSchedulers({
    seed,
    count: profile.schedulers,
    line: crew,
    history,
    mostTries: options.mostTries ?? mostTries,
  })
  const shopperHistory = new ShopperHistory(join(ground.cluster.folder, 'shoppers'))
  const shopPage = await openShopPage((checkout, about) =>
    shopperHistory.add({ checkout, what: 'call', atMs: Date.now(), about }),
  )
  const shoppers = openShoppers({
    seed,
    count: profile.shoppers,
    line: crew,
    history: shopperHistory,
    shopPage: shopPage.url,
    mostTries: options.mostTries ?? mostTries,
  })
  const follower = openFollower(crew, seed, join(ground.cluster.folder, 'followed'))
  const watch = new Watch(scene, history, say, profile.progressMs)
  const daysEnd = new AbortController()
  const days = plan.some(({ injection }) => isOfSettlement(injection))
    ? scene.settlements.settleRegularly(daysEnd.signal)
    : undefined
  const injected = await follow(
    scene,
    plan,
    startedMs,
    forMs,
    profile.goal !== undefined,
    (done) => {
      watch.injected = done
    },
  )
  while (
    history.counts.words < (options.leastWords ?? 0) &&
    performance.now() < startedMs + 4 * forMs
  ) {
    await pause(100)
  }
  await watch.stop()
  daysEnd.abort()
  await days
  await crew.allPresent()
  await Promise.all([shops.stop(), schedulers.stop(), shoppers.stop()])
  if (profile.goal !== undefined) {
    await makeUp(scene, injected, (no) => open(few, profile.merchants + no * few))
  }
  history.close()
  const seconds = (performance.now() - startedMs) / 1000
  say(`merchants are done after ${seconds.toFixed(0)} s; waiting for quiet`)
  const unrest = await becomeQuiet(scene, receivers, shoppers, options)
  await follower.end()
  await shopPage.close()
  shopperHistory.close()
  await fillOracle(ground, {
    history: history.path,
    followed: follower.path,
    received: receivers.path,
    shoppers: shopperHistory.path,
  })
  say(await spokenOf(ground.sql))
  const violations = [
    ...watch.violations,
    ...unrest,
    ...(await judge(ground)),
    ...fallenHosts(crew),
  ]
  const [{ payments } = { payments: 0n }] = await ground.sql<{ payments: bigint }>(
    'select count(*) as payments from tollgate.payment',
  )
  const counts = await countViolations(ground, violations)
  await tellViolations(ground, violations, injected, say)
  return {
    violations,
    counts,
    shortcomings: shortcomings(profile, injected, Number(payments)),
    payments: Number(payments),
    tries: history.counts.tries,
    perSecond: Number(payments) / seconds,
    injected,
    seconds,
    silences: history.silences,
  }
}

const quietWithinMs = 180_000
/** Maximum number of attempts for a wish. */
const mostTries = 400
const plainShare = 0.8
const plainChannelShare = 0.15

async function becomeQuiet(
  scene: Scene,
  receivers: Receivers,
  shoppers: Shoppers,
  options: RunOptions,
): Promise<(Violation & { assertion: string })[]> {
  const { ground } = scene
  if (options.keepsAcquirerFaults !== true) await ground.acquirer.control({ clear: true })
  ground.proxy.plan()
  await receivers.recover()
  await tellAgain(scene)
  await ownUp(scene)
  await endPending(ground)
  await ground.endDeadJobs()
  const since = performance.now()
  const operators = await openOperators(scene)
  const quiet = async () => {
    const end = ground.quiet(options.quietWithinMs ?? quietWithinMs)
    await Promise.all([end, operators.decideUntil(end), confirmUndosUntil(scene, end)])
  }
  try {
    await quiet()
    await approveExpired(scene)
    await quiet()
    await operators.decideSome()
    await quiet()
    await keepDead(ground.sql)
    await receivers.replayDead()
    await shoppers.pressAgain()
    await quiet()
    await shoppers.askStates()
    if (scene.settlements.hasSettled) {
      await scene.settlements.settle()
      await scene.settlements.done(options.quietWithinMs ?? filesWithinMs)
      await quiet()
    }
  } catch (error) {
    const [what = '', first = ''] = String(error).split('\n')
    // A timer says little; the payment that it is about has a history.
    const about = / continue ([0-9a-f]{32})/.exec(first)?.[1] ?? first.split(' ')[0] ?? ''
    return [{ about, what: `${what} ${first}`, assertion: 'everything is decided in the end' }]
  } finally {
    await operators.close()
  }
  options.say(`quiet after ${((performance.now() - since) / 1000).toFixed(1)} s`)
  return []
}

/** Records the given-up notifications before their replay. */
async function keepDead(sql: Ground['sql']): Promise<void> {
  await sql(
    `insert into oracle.dead (endpoint_id, event_id, reason)
     select endpoint_id, event_id, reason from tollgate.delivery where state = 'dead' and event_id is not null`,
  )
}

/** Ends the acquirer's pending payments half a minute early; a third is left to expire. */
async function endPending({ acquirer, sql }: Ground): Promise<void> {
  const rows = await sql<{ key: string }>(
    // The acquirer knows of no payment in its authentication.
    `select a.key from tollgate.attempt a
     join tollgate.payment p on p.attempt_key = a.key
     where p.state = 'pending' and a.stage = 'money'`,
  )
  for (const [no, { key }] of rows.entries()) {
    if (no % 3 === 2) continue
    await acquirer.control({ finish: { key, code: no % 3 === 0 ? '00' : '05' } })
  }
}

const mostOfOne = 20

async function judge({ sql }: Ground): Promise<(Violation & { assertion: string })[]> {
  // A list of all notifications has to fit, or its comparison takes a quarter of an hour.
  await sql(`set work_mem = '64MB'`)
  await sql('set jit = off')
  const all: (Violation & { assertion: string })[] = []
  for (const [assertion, statement] of Object.entries(assertions)) {
    // Without "materialized" the limit invites nested loops, which take hours over a million payments.
    const found = await sql<Violation>(
      `with violation as materialized (${statement}) select * from violation limit ${mostOfOne}`,
    )
    all.push(...found.map((violation) => ({ ...violation, assertion })))
  }
  return all
}

/** The list of violations is cut off, but these counts are complete. */
async function countViolations(
  { sql }: Ground,
  violations: Report['violations'],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of new Set(violations.map(({ assertion }) => assertion))) {
    const statement = assertions[name]
    const listed = violations.filter(({ assertion }) => assertion === name).length
    const [row] =
      statement === undefined
        ? []
        : await sql<{ count: bigint }>(`select count(*) as count from (${statement}) v`)
    counts[name] = Math.max(listed, Number(row?.count ?? 0))
  }
  return counts
}

const fallenHosts = (crew: Crew) =>
  crew.fallen.map((what) => ({
    about: 'host',
    what,
    assertion: 'hosts end only when they are killed',
  }))

const mostTimelines = mostOfOne

async function tellViolations(
  { sql }: Ground,
  violations: Report['violations'],
  injected: readonly Done[],
  say: (line: string) => void,
): Promise<void> {
  const shownOf = new Map<string, number>()
  for (const { assertion, about, what } of violations) {
    const count = (shownOf.get(assertion) ?? 0) + 1
    shownOf.set(assertion, count)
    if (count > mostTimelines) continue
    say(`VIOLATED ${assertion}\n  ${about}: ${what}`)
    for (const line of await timelineOf(sql, about, injected)) say(line)
  }
}
