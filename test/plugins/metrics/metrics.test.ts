/** Metrics as Prometheus reads them, and the dashboard and alerts over them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parser } from '@prometheus-io/lezer-promql'
import parsePrometheus from 'parse-prometheus-text-format'
import { parse as parseYaml } from 'yaml'
import { metrics } from '../../../plugins/metrics/index.ts'
import { checkedOptions, MetricsOptionsError } from '../../../plugins/metrics/options.ts'
import { ask, debit, type Hosted, startHost } from '../../host/http/hosted.ts'
import { startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { inScope } from '../../rig/scope.ts'
import { root } from '../../rig/sources.ts'

type Family = {
  readonly name: string
  readonly type: string
  readonly metrics: readonly { readonly value: string; readonly labels?: Labels }[]
}

type Labels = Readonly<Record<string, string>>

class Scraped {
  readonly families: ReadonlyMap<string, Family>

  /** The parser joins the series of a histogram, so each is read as it stands. */
  constructor(text: string) {
    const all = parsePrometheus(text) as Family[]
    assert.ok(all.some(({ type }) => type === 'HISTOGRAM'))
    const apart = parsePrometheus(text.replaceAll(/^# TYPE \S+ histogram$/gm, '')) as Family[]
    const byName = Map.groupBy(apart, ({ name }) => name)
    this.families = new Map(
      [...byName].map(([name, parts]) => [
        name,
        { name, type: parts[0]!.type, metrics: parts.flatMap((part) => part.metrics) },
      ]),
    )
  }

  /** Samples of a metric with at least these labels. */
  of(name: string, labels: Labels = {}) {
    const family = this.families.get(name)
    assert.ok(family, `no metric ${name}`)
    return family.metrics.filter(({ labels: own = {} }) =>
      Object.entries(labels).every(([label, value]) => own[label] === value),
    )
  }

  value(name: string, labels: Labels = {}): number | undefined {
    const [sample] = this.of(name, labels)
    return sample === undefined ? undefined : Number(sample.value)
  }
}

/** The address, from the line that the exporter logs. */
function urlIn({ logs }: Pick<Hosted, 'logs'>): string {
  const line = logs.find(({ message }) => message === 'metrics are served')
  return String(line?.fields.url)
}

describe('metrics of a host', () => {
  let run: Hosted
  let line: Line
  let url: string
  const scrape = async () => {
    const response = await fetch(url)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    return new Scraped(await response.text())
  }
  const pay = (more: Labels = {}) =>
    ask(run.url, '/v1/payments', {
      token: run.token,
      form: { ...debit, entityId: run.channel, ...more },
    })

  before(async () => {
    run = await startHost(
      {},
      {
        name: 'metrics test',
        role: 'all',
        plugins: [metrics({ port: 0 })],
        through: async (database) => {
          line = await lineTo(database)
          return line.url
        },
      },
    )
    url = urlIn(run)
  })
  after(async () => {
    await run.close()
    await line.close()
  })

  test('count payments by result group and connector, and time their commits and calls', async () => {
    const approved = await pay()
    assert.equal(approved.status, 200)
    const declined = await pay({ 'card.number': '4000000000000002' })
    const refused = await pay({ amount: 'much' })
    assert.deepEqual([declined.body.result.code, refused.status], ['800.100.152', 400])
    const found = await until(async () => {
      const now = await scrape()
      const done = now.value('tollgate_request_seconds_count', {
        operation: 'payments.create',
        status: '400',
      })
      return (done ?? 0) >= 1 ? now : undefined
    })
    const engine = 'metrics test'
    const ofSimulator = { connector: 'simulator', payment_type: 'DB', engine }
    const successes = { ...ofSimulator, result_group: 'success' }
    assert.equal(found.value('tollgate_payments_total', successes), 1)
    const outcomes = found.of('tollgate_payments_total', ofSimulator)
    const sum = outcomes.reduce((all, { value }) => all + Number(value), 0)
    const first = found.value('tollgate_first_commit_seconds_count', { result: 'done' })
    assert.equal(sum, first, 'a refused request commits nothing')
    const calls = { connector: 'simulator', operation: 'debit' }
    assert.equal(
      found.value('tollgate_connector_call_seconds_count', { ...calls, outcome: 'approved' }),
      1,
    )
    assert.equal(found.value('tollgate_settling_commit_seconds_count', { result: 'done' }), first)
    assert.ok((found.value('tollgate_first_commit_seconds_sum') ?? 0) > 0)
    const buckets = found.of('tollgate_first_commit_seconds_bucket', { result: 'done' })
    const bounds = buckets.map(({ labels }) => labels?.le)
    assert.ok(bounds.includes('0.001') && bounds.includes('+Inf'), bounds.join())
    assert.equal(Number(buckets.at(-1)?.value), first)
  })

  test('show lanes, jobs, notifications and the operators’ list', async () => {
    const receiver = await startReceiver()
    try {
      receiver.behave('fail')
      await run.gateway.webhooks.create({ entityId: run.merchant, url: receiver.url } as never)
      await pay()
      await receiver.atLeast(1)
      await run.sql(
        `insert into tollgate.attention (id, kind, alarm_at, detail, reference)
         values (gen_random_uuid(), 'unclaimed', now(), '{}', 'metrics')`,
      )
      const found = await until(async () => {
        const now = await scrape()
        const isThere =
          (now.value('tollgate_attention_open', { kind: 'unclaimed' }) ?? 0) > 0 &&
          (now.value('tollgate_notifications_waiting', { state: 'pending' }) ?? 0) > 0 &&
          (now.value('tollgate_notification_attempts_total', { result: 'failed' }) ?? 0) > 0
        return isThere ? now : undefined
      })
      assert.equal(found.value('tollgate_database_up'), 1)
      assert.ok(
        (found.value('tollgate_pool_connections', { lane: 'group', state: 'open' }) ?? 0) > 0,
      )
      assert.equal(found.value('tollgate_pool_waiting', { lane: 'read' }), 0)
      assert.ok((found.value('tollgate_notifications_oldest_seconds') ?? 0) > 0)
      assert.equal(found.of('tollgate_jobs', { job: 'housekeeping' }).length, 3)
      assert.equal(found.value('tollgate_info', { role: 'all', environment: 'test' }), 1)
      assert.ok((found.value('process_resident_memory_bytes') ?? 0) > 1_000_000)
    } finally {
      await receiver.close()
    }
  })

  test('hold no ids, no card data and no names', async () => {
    const { body } = await pay()
    const text = await (await fetch(url)).text()
    for (const secret of [
      body.id,
      body.ndc,
      run.channel,
      run.merchant,
      run.token,
      debit['card.number']!,
      'Jane',
    ]) {
      assert.ok(!text.includes(secret), secret)
    }
    assert.doesNotMatch(text, /[0-9a-f]{32}/)
  })

  test('only GET /metrics is there', async () => {
    const { origin } = new URL(url)
    assert.match(origin, /^http:\/\/127\.0\.0\.1:/)
    assert.equal((await fetch(`${origin}/`)).status, 404)
    assert.equal((await fetch(`${origin}/v1/resultcodes`)).status, 404)
    assert.equal((await fetch(url, { method: 'POST', body: 'x' })).status, 405)
  })

  test('are there while the database hangs, and say so', async () => {
    await scrape()
    line.stall()
    try {
      const found = await until(async () => {
        const begunMs = performance.now()
        const now = await scrape()
        assert.ok(performance.now() - begunMs < inScope(30_000, 5_000))
        return now.value('tollgate_database_up') === 0 ? now : undefined
      })
      // Old numbers would look like present ones.
      assert.deepEqual(found.of('tollgate_attention_open'), [])
      assert.ok((found.value('tollgate_payments_total', { result_group: 'success' }) ?? 0) > 0)
    } finally {
      line.resume()
    }
    await until(async () =>
      (await scrape()).value('tollgate_database_up') === 1 ? true : undefined,
    )
  })

  describe('the dashboard and the alert rules', () => {
    type Panel = { title: string; targets?: readonly { expr: string }[] }
    const read = (name: string) => readFileSync(path.join(root, 'plugins/metrics', name), 'utf8')
    const dashboard = JSON.parse(read('dashboard.json')) as {
      panels: readonly Panel[]
      templating: { list: readonly { query: string }[] }
    }
    const alerts = parseYaml(read('alerts.yaml')) as {
      groups: { rules: { alert: string; expr: string; annotations: Labels; labels: Labels }[] }[]
    }
    const rules = alerts.groups.flatMap((group) => group.rules)
    const expressions = [
      ...rules.map(({ alert, expr }) => [alert, expr] as const),
      ...dashboard.panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr }) => [title, expr] as const),
      ),
    ]

    /** What Grafana puts in before it asks. */
    const asked = (expr: string) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll('$engine', '.*')
    const problemIn = (expr: string): string | undefined => {
      let problem: string | undefined
      parser.parse(asked(expr)).iterate({
        enter: (node) => {
          if (node.type.isError) problem ??= `at ${node.from}: ${asked(expr).slice(node.from)}`
        },
      })
      return problem
    }

    test('a process that vanished from the discovery is told by a rule of its own', () => {
      const { expr } = rules.find(({ alert }) => alert === 'TollgateAbsent')!
      assert.match(expr, /^absent\(tollgate_info\{job="tollgate", role=~"api\|all"\}\)/)
      assert.match(expr, /absent\(tollgate_info\{job="tollgate", role=~"worker\|all"\}\)/)
    })

    test('every expression is PromQL; a broken one would be noticed', () => {
      assert.ok(expressions.length > 30)
      for (const [where, expr] of expressions) assert.equal(problemIn(expr), undefined, where)
      assert.notEqual(problemIn('sum by (connector (rate(x[5m]))'), undefined)
    })

    /** Labels of each metric, as the documentation lists them. */
    const documented = new Map(
      readFileSync(path.join(root, 'docs/observability.md'), 'utf8')
        .split('\n')
        .flatMap((row) => {
          const [, name, labels] = /^\| `(tollgate_\w+)` \|([^|]*)\|/.exec(row) ?? []
          if (name === undefined || labels === undefined) return []
          return [[name, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label!)] as const]
        }),
    )

    test('the documentation lists every metric of Tollgate with its labels', async () => {
      const found = await scrape()
      const told = new Map<string, Set<string>>()
      for (const { name, metrics: samples } of found.families.values()) {
        if (!name.startsWith('tollgate_')) continue
        const metric = name.replace(/_seconds_(?:bucket|count|sum)$/, '_seconds')
        const labels = samples.flatMap((sample) => Object.keys(sample.labels ?? {}))
        const own = labels.filter((label) => label !== 'le' && label !== 'engine')
        told.set(metric, new Set([...(told.get(metric) ?? []), ...own]))
      }
      assert.deepEqual([...documented.keys()].sort(), [...told.keys()].sort())
      for (const [metric, labels] of told) {
        // Nothing is under way at an acquirer now.
        if (labels.size === 0 && metric === 'tollgate_calls_under_way') continue
        assert.deepEqual([...documented.get(metric)!].sort(), [...labels].sort(), metric)
      }
    })

    test('every metric and label of an expression is one that the process tells', async () => {
      const found = await scrape()
      const known = new Map<string, Set<string>>()
      for (const [metric, labels] of documented) known.set(metric, new Set([...labels, 'engine']))
      for (const { name } of found.families.values()) {
        const [, metric, ending] = /^(.*_seconds)_(bucket|count|sum)$/.exec(name) ?? []
        const labels = known.get(metric ?? name) ?? new Set(['engine'])
        known.set(name, ending === 'bucket' ? new Set([...labels, 'le']) : labels)
      }
      // Prometheus itself adds these.
      const added = ['instance', 'job']
      known.set('up', new Set(added))
      let metricsSeen = 0
      for (const [where, expr] of expressions) {
        const text = asked(expr)
        const named: string[] = []
        const labels: string[] = []
        parser.parse(text).iterate({
          enter: ({ name, from, to }) => {
            if (name === 'Identifier') named.push(text.slice(from, to))
            if (name === 'LabelName') labels.push(text.slice(from, to))
          },
        })
        for (const metric of named) {
          metricsSeen += 1
          assert.ok(known.has(metric), `${where} names ${metric}`)
        }
        const allowed = new Set([...named.flatMap((metric) => [...known.get(metric)!]), ...added])
        for (const label of labels)
          assert.ok(allowed.has(label), `${where} names ${label} of ${named}`)
      }
      assert.ok(metricsSeen >= expressions.length)
    })

    test('each alert says what is wrong and what to do', () => {
      assert.ok(rules.length >= 10)
      assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
      for (const { alert, annotations, labels } of rules) {
        assert.ok((annotations.summary ?? '').length > 20, alert)
        assert.ok((annotations.description ?? '').length > 20, alert)
        assert.ok(['page', 'ticket'].includes(labels.severity ?? ''), alert)
      }
    })
  })
})

describe('options of the metrics', () => {
  test('are named when they are wrong', () => {
    for (const [given, named] of [
      [{ port: 70_000 }, /port must be a whole number from 0 to 65535/],
      [{ host: '' }, /host must be an address/],
      [{ bucketsSeconds: [1, 1] }, /bucketsSeconds must be a list of ascending numbers/],
      [{ adress: 'x' }, /adress is no option: use host, port, bucketsSeconds/],
    ] as const) {
      assert.throws(() => metrics(given as never), named)
    }
    assert.deepEqual(
      [checkedOptions({}).host, checkedOptions({}).port],
      ['127.0.0.1', 9464],
      'nobody else reaches the metrics by default',
    )
  })

  test('a port in use ends the start with its name', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((listening) => other.once('listening', listening))
    const { port } = other.address() as AddressInfo
    try {
      await assert.rejects(startHost({}, { plugins: [metrics({ port })] }), (error: Error) => {
        assert.ok(error instanceof MetricsOptionsError)
        assert.match(error.message, new RegExp(`port ${port} on 127\\.0\\.0\\.1 cannot be used`))
        return true
      })
    } finally {
      other.close()
    }
  })
})

test('several engines of one process share the port, each with a page of its own', async () => {
  const plugin = metrics({ port: 0 })
  const engines = await Promise.all(
    ['first', 'second'].map((name) => startGateway({ name, plugins: [plugin] })),
  )
  const [first, second] = engines.map(urlIn) as [string, string]
  const page = async (url: string) => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  }
  const [plain, other] = first.endsWith('/metrics') ? [first, second] : [second, first]
  const names = [/engine="first"/, /engine="second"/]
  const [of, notOf] = other.endsWith('/second') ? [names[1]!, names[0]!] : [names[0]!, names[1]!]
  const found = await page(other)
  assert.match(found.text, of)
  assert.doesNotMatch(found.text, notOf)
  assert.match((await page(plain)).text, notOf, 'the first one is also at the usual path')
  assert.equal((await page(`${plain}/third`)).status, 404)
  for (const engine of engines) await engine.close()
  await assert.rejects(page(plain), 'the last one closes the port')
})
