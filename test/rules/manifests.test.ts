/** What a registry and its readers need of every package. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { folders, manifestIn, rootManifest } from '../examples/manifests.ts'
import { root } from '../rig/sources.ts'

const address = rootManifest.repository?.url ?? ''
const page = address.replace(/^git\+/, '').replace(/\.git$/, '')

test('the packages of the repository are found', () => {
  assert.ok(folders.length >= 13, String(folders))
})

for (const folder of folders) {
  const manifest = manifestIn(folder)
  test(`${manifest.name} says what it is, where it comes from and what it needs`, () => {
    assert.match(manifest.name, /^@tollgate\/[a-z-]+$|^create-tollgate-connector$/)
    assert.match(manifest.version, /^\d+\.\d+\.\d+$/)
    assert.match(manifest.description ?? '', /^[A-Z].{20,}\.$/)
    assert.deepEqual(manifest.keywords?.slice(0, 3), ['tollgate', 'payments', 'payment-gateway'])
    assert.equal(manifest.license, 'MIT')
    assert.equal(manifest.type, 'module')
    assert.deepEqual(manifest.engines, { node: '>=22.18' })
    assert.deepEqual(manifest.repository, { type: 'git', url: address, directory: folder })
    assert.equal(manifest.homepage, `${page}/tree/main/${folder}#readme`)
    assert.equal(manifest.bugs, `${page}/issues`)
    assert.deepEqual(manifest.publishConfig, { access: 'public', provenance: true })
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare']
    const own = Object.keys(manifest.scripts ?? {})
    assert.deepEqual(
      own.filter((name) => hooks.includes(name)),
      [],
      'nothing runs when it is installed',
    )
    assert.match(manifest.scripts?.prepack ?? '', /^tsc -b( &&|$)/, 'no package without its build')
  })

  test(`${manifest.name} has a README with a quick start, a licence and a changelog`, () => {
    const text = (file: string) => readFileSync(path.join(root, folder, file), 'utf8')
    const readme = text('README.md')
    assert.ok(readme.startsWith(`# ${manifest.name}\n`))
    if (manifest.name.startsWith('@')) assert.match(readme, /^## Quick start$/m)
    assert.match(readme, /Tollgate(,| is) an embeddable payment-gateway engine|MIT licence\./)
    assert.match(text('LICENSE'), /^MIT License/)
    assert.ok(text('CHANGELOG.md').includes(`${page}/blob/main/CHANGELOG.md`))
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'dist']) {
      assert.ok(manifest.files?.includes(file), file)
    }
    assert.ok(manifest.files?.includes('!dist/**/*.map'))
  })

  test(`${manifest.name} takes compatible versions of ours`, () => {
    const needed = Object.entries({
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.devDependencies,
    }).filter(([name]) => name.startsWith('@tollgate/'))
    for (const [name, range] of needed) {
      const own = folders.map(manifestIn).find((one) => one.name === name)
      assert.equal(range, `^${own?.version}`, name)
    }
    for (const entry of Object.values(manifest.exports)) {
      if (typeof entry === 'string') continue
      assert.deepEqual(Object.keys(entry), ['@tollgate/source', 'types', 'default'])
      const source = entry['@tollgate/source'] ?? ''
      assert.ok(source.includes('*') || existsSync(path.join(root, folder, source)), source)
    }
  })
}
