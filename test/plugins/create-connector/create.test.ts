/** The packages that `npm create tollgate-connector` writes: what is in them, and what the command asks. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { connectorContract, settlementContract } from '@tollgate/plugin-kit/testing'
import {
  createConnector,
  type Part,
  parts,
  type Wire,
  wires,
} from '../../../plugins/create-connector/index.ts'
import { files } from '../../../plugins/create-connector/template/sandbox/files.ts'
import { sandbox } from '../../../plugins/create-connector/template/sandbox/sandbox.ts'
import { acmeBank } from '../../../plugins/create-connector/template/src/index.ts'
import { root } from '../../rig/sources.ts'

// The template itself, with every part, over JSON. The packages of all wires run their own suites elsewhere.
connectorContract(acmeBank, sandbox)
settlementContract(acmeBank, files)

describe('a created package', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-create-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const all = Object.keys(parts) as Part[]
  const created = (name: string, wire: Wire, chosen: readonly Part[]) => {
    const made = createConnector({ name, wire, parts: new Set(chosen) }, folder)
    const read = (file: string) => readFileSync(path.join(made, file), 'utf8')
    const sources = globSync('**/*.ts', { cwd: made }).map((file) => [file, read(file)] as const)
    return { made, read, sources }
  }

  test('has its own name everywhere, and no mark of the template', () => {
    for (const wire of wires) {
      const { made, sources, read } = created(`north-sea-${wire}`, wire, all)
      const texts = [...sources, ['README.md', read('README.md')] as const]
      for (const [file, text] of texts) {
        assert.doesNotMatch(text, /acme|@decisions@|\/\/ #/i, `${wire}: ${file}`)
      }
      assert.match(read('src/index.ts'), new RegExp(`name: 'north-sea-${wire}'`))
      assert.ok(existsSync(path.join(made, '.gitignore')))
    }
  })

  test('lists every decision, each marked at one place', () => {
    const { sources, read } = created('decisions', 'xml', all)
    const marks = sources.flatMap(([, text]) =>
      [...text.matchAll(/DECIDE\(([^)]*)\)/g)].map(([, mark]) => mark!),
    )
    assert.equal(new Set(marks).size, marks.length, 'no mark stands twice')
    assert.ok(marks.length >= 20, `${marks.length} decisions`)
    const listed = [...read('README.md').matchAll(/^\| ([a-z ]+) \| `/gm)].map(([, mark]) => mark!)
    assert.deepEqual(listed.filter((mark) => mark !== 'mark').sort(), [...marks].sort())
  })

  test('has nothing of the parts that were not chosen', () => {
    const { made, sources } = created('small', 'form', [])
    assert.deepEqual(readdirSync(path.join(made, 'src')).sort(), [
      'answers.ts',
      'index.ts',
      'login.ts',
      'requests.ts',
      'wire.ts',
    ])
    for (const [file, text] of sources) {
      assert.doesNotMatch(text, /settlement|inbound|returnUrl|notifySecret|dropToken|Bearer/, file)
    }
  })

  test('is never written over another one, and has a name that fits', () => {
    created('once', 'json', [])
    assert.throws(() => created('once', 'json', []), /exists already/)
    for (const name of ['', 'Bank', '1bank', 'a--b', 'a/b', 'x'.repeat(33)]) {
      assert.throws(() => created(name, 'json', []), /a name has at most 32 lower-case letters/)
    }
  })

  test('has the prefix of packages once, and keeps packed files out of git', () => {
    const { made, read } = created('tollgate-connector-south-bank', 'json', [])
    assert.equal(path.basename(made), 'south-bank')
    assert.match(read('package.json'), /"name": "tollgate-connector-south-bank"/)
    assert.match(read('src/index.ts'), /name: 'south-bank'/)
    assert.match(read('.gitignore'), /^\*\.tgz$/m)
  })

  test('is not published while decisions are left', () => {
    const { made, read } = created('undecided', 'json', [])
    assert.match(read('package.json'), /"prepublishOnly": "node test\/decided.ts"/)
    assert.match(read('package.json'), /"license": "UNLICENSED"/)
    const check = () =>
      spawnSync(process.execPath, [path.join(made, 'test/decided.ts')], { encoding: 'utf8' })
    const { status, stderr } = check()
    assert.equal(status, 1)
    assert.match(stderr, /src\/requests.ts: amount\n/)
    for (const file of globSync('src/*.ts', { cwd: made })) {
      writeFileSync(path.join(made, file), read(file).replaceAll('// DECIDE', '// Decided'))
    }
    assert.equal(check().status, 0)
  })

  test('is not published while a dependency is a file of one machine', () => {
    const { made, read } = created('of-files', 'json', [])
    rmSync(path.join(made, 'src'), { recursive: true })
    mkdirSync(path.join(made, 'src'))
    const manifest = JSON.parse(read('package.json')) as Record<string, object>
    const checked = (changed: object) => {
      writeFileSync(path.join(made, 'package.json'), JSON.stringify({ ...manifest, ...changed }))
      return spawnSync(process.execPath, [path.join(made, 'test/decided.ts')], { encoding: 'utf8' })
    }
    assert.equal(checked({}).status, 0)
    for (const kind of ['dependencies', 'optionalDependencies', 'peerDependencies']) {
      const { status, stderr } = checked({ [kind]: { '@tollgate/schemas': 'file:../s.tgz' } })
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`${kind}: @tollgate/schemas file:\\.\\./s\\.tgz`))
    }
    // Whoever installs the package gets none of these.
    assert.equal(checked({ devDependencies: { tools: 'file:../tools' } }).status, 0)
  })

  const command = (words: readonly string[], answers: string) =>
    new Promise<{ code: number | null; out: string; errors: string }>((resolve) => {
      const bin = path.join(root, 'plugins/create-connector/bin/create-tollgate-connector.js')
      const child = spawn(process.execPath, ['--conditions=@tollgate/source', bin, ...words], {
        cwd: folder,
      })
      const said = { out: '', errors: '' }
      child.stdout.on('data', (text: Buffer) => {
        said.out += text
      })
      child.stderr.on('data', (text: Buffer) => {
        said.errors += text
      })
      child.on('close', (code) => resolve({ code, ...said }))
      child.stdin.end(answers)
    })

  test('comes of questions, which are asked again after a wrong answer', async () => {
    const { code, out } = await command([], 'No Name\nasked\nyaml\nxml\nn\ny\nn\n\n')
    assert.equal(code, 0)
    assert.match(out, /a name has at most/)
    assert.match(out, /the wire is one of json, xml, form/)
    assert.match(out, /cd asked\n {2}npm install --no-save \.\.\/packages\/\S+ \S+\n {2}npm test\n/)
    const source = readFileSync(path.join(folder, 'asked/src/index.ts'), 'utf8')
    assert.match(source, /complete:/)
    assert.doesNotMatch(source, /inbound|settlement/)
  })

  test('asks for another name before anything else where the folder exists', async () => {
    created('taken', 'json', [])
    const flag = await command(['taken'], 'json\n')
    assert.match(flag.errors, /^\S+taken exists already; choose another name\n$/)
    assert.equal(flag.out, '')
    const { code, out } = await command([], 'taken\nfree\njson\n\n\n\n\n')
    assert.equal(code, 0)
    assert.match(out, /taken exists already; choose another name\nName of the connector/)
  })

  test('says which Node its tests need', () => {
    const { made, read } = created('old-node', 'json', [])
    assert.match(read('package.json'), /"test": "node test\/node-version\.js && /)
    const on = (version: string) => {
      const old = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
      const words = ['--import', `data:text/javascript,${encodeURIComponent(old)}`]
      const file = path.join(made, 'test/node-version.js')
      return spawnSync(process.execPath, [...words, file], { encoding: 'utf8' })
    }
    assert.deepEqual([on('22.18.0').status, on('24.0.0').status], [0, 0])
    for (const version of ['20.19.1', '22.17.9']) {
      const { status, stderr } = on(version)
      assert.equal(status, 1)
      assert.equal(stderr, `The tests need Node 22.18 or later, this is ${version}.\n`)
    }
  })

  test('comes of flags alone, and a wrong or missing one is named', async () => {
    const flags = ['--wire', 'form', '--no-token', '--events', '--no-redirect', '--no-settlement']
    assert.equal((await command(['flags', ...flags], '')).code, 0)
    const wrong = await command(['other', '--wire', 'soap'], '')
    assert.deepEqual([wrong.code, wrong.errors], [1, 'the wire is one of json, xml, form\n'])
    const twice = await command(['other', 'another', ...flags], '')
    assert.deepEqual([twice.code, twice.errors], [1, 'one name is enough, without another\n'])
    const missing = await command(['other', '--wire', 'xml'], '')
    assert.deepEqual(
      [missing.code, missing.errors],
      [
        1,
        'missing: --token or --no-token, --redirect or --no-redirect, --events or --no-events, --settlement or --no-settlement; --help lists the options\n',
      ],
    )
    const some = await command(['other', '--wire', 'xml', '--no-events'], 'n\n')
    assert.equal(
      some.errors,
      'missing: --redirect or --no-redirect, --settlement or --no-settlement; --help lists the options\n',
    )
    assert.equal(existsSync(path.join(folder, 'other')), false, 'nothing is written')
  })
})
