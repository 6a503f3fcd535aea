import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { packagedBinaries } from '../../../plugins/embedded-postgres/binaries.ts'
import { findPlace, openDirectory } from '../../../plugins/embedded-postgres/location.ts'
import { chooseServerUser, runsAsRoot } from '../../../plugins/embedded-postgres/server-user.ts'
import {
  afterwards,
  newFolder,
  newProject,
  onDatabase,
  options,
  starters,
  startHost,
} from './hosts.ts'

describe('a project in a folder that others cannot enter', () => {
  for (const { name, user } of starters) {
    const root = user === null && runsAsRoot()
    test(`started by ${name}: ${root ? 'data and programs go to a system folder' : 'all stays in the project'}`, async (t) => {
      // Programs do not always run from memory, so this project lies on a disk.
      const project = newProject(t, user, 0o700, tmpdir())
      // The programs lie in the closed folder too, as node_modules of such a project do.
      const binaries = join(project, 'native')
      if (root) cpSync(packagedBinaries(), binaries, { recursive: true, verbatimSymlinks: true })
      const wanted = { ...options(project), ...(root ? { binaries } : {}) }
      const host = await startHost(t, user, wanted)
      const directory = join(project, '.tollgate')
      if (!root) {
        assert.equal(host.location, directory)
        assert.equal(statSync(directory).mode & 0o777, 0o700)
        assert.equal(existsSync(join(directory, 'location')), false)
        await host.stop()
        return
      }
      afterwards(t, () => {
        rmSync(host.location, { recursive: true, force: true })
        const base = join(host.location, '..')
        if (readdirSync(base).length === 0) rmdirSync(base)
      })
      assert.match(host.location, /^\/var\/lib\/tollgate\/tollgate-launcher-\w+-\w{6}$/)
      assert.equal(readFileSync(join(directory, 'location'), 'utf8'), `${host.location}\n`)
      assert.match(await host.line(/keeps the database in/), new RegExp(host.location))
      await host.line(/copying PostgreSQL's programs/)
      assert.equal(statSync(join(host.location, 'data')).uid, chooseServerUser().uid)
      assert.equal(statSync(join(directory, 'password')).mode & 0o777, 0o600)
      await onDatabase(host.url, (client) => client.query('create table kept (id serial)'))
      await host.stop()

      const again = await startHost(t, user, wanted)
      assert.equal(again.location, host.location)
      await onDatabase(again.url, (client) => client.query('select from kept'))
      assert.equal(
        again.lines.some((line) => line.includes('copying')),
        false,
        'copied once',
      )
      await again.stop()
    })
  }
})

describe('the note that says where the data is', () => {
  /** A closed folder with one project, and the folder its data was put into. */
  function projectElsewhere(t: TestContext) {
    const closed = newProject(t, null, 0o700)
    const directory = newFolder(closed, 'one', 0o700)
    const state = newFolder(newProject(t, null), 'state', 0o711)
    writeFileSync(join(directory, 'location'), `${state}\n`)
    writeFileSync(join(state, 'directory'), `${directory}\n`)
    return { closed, directory, state }
  }

  async function find(t: TestContext, directory: string) {
    const stateFolder = join(newProject(t, null), 'states')
    const place = await findPlace({
      directory,
      projectDirectory: directory,
      log: assert.fail,
      stateFolder,
    })
    return place
  }

  test('is obeyed', async (t) => {
    const { directory, state } = projectElsewhere(t)
    const place = await find(t, directory)
    assert.deepEqual([place.root, place.directory], [state, directory])
  })

  test('moves with the project', async (t) => {
    const { closed, directory, state } = projectElsewhere(t)
    const moved = join(closed, 'moved')
    renameSync(directory, moved)
    assert.equal((await find(t, moved)).root, state)
    assert.equal(readFileSync(join(state, 'directory'), 'utf8'), `${moved}\n`)
  })

  test('is refused in a copy of the project, whose data the original keeps', async (t) => {
    const { closed, directory, state } = projectElsewhere(t)
    const copy = join(closed, 'copy')
    cpSync(directory, copy, { recursive: true })
    await assert.rejects(find(t, copy), /is a copy, and .* stays the database of .*; remove/)
    assert.equal((await find(t, directory)).root, state)
  })

  test('refuses to begin anew when the data is gone', async (t) => {
    const { directory, state } = projectElsewhere(t)
    rmSync(state, { recursive: true })
    await assert.rejects(find(t, directory), (thrown: Error) => {
      assert.equal(thrown.name, 'EmbeddedPostgresError')
      assert.match(thrown.message, new RegExp(`${state}, which is gone; put it back, or remove`))
      return true
    })
  })
})

describe('a system folder for the data', () => {
  function search(directory: string, stateFolder: string) {
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    return { lines, search: { directory, projectDirectory: directory, log, stateFolder } }
  }

  test('is not asked for where the directory itself can hold it', async (t) => {
    const open = newProject(t, null)
    const { lines, search: wanted } = search(open, '/proc/no-folder-can-be-made-here')
    const place = await findPlace(wanted)
    assert.deepEqual([place.root, lines], [open, []])
    assert.equal(place.user === null, !runsAsRoot(), 'root hands the server to somebody else')
  })

  test('is named in a warning, another one once the note is removed, and must be there', async (t) => {
    const closed = newFolder(newProject(t, null, 0o700), 'project', 0o700)
    const states = join(newProject(t, null), 'states')
    const { lines, search: wanted } = search(closed, states)
    const places = await Promise.all([findPlace(wanted), findPlace(wanted)])
    const [{ root }] = places
    assert.equal(places[1].root, root, 'of two at once one is noted')
    if (!runsAsRoot()) {
      assert.equal(root, closed, 'an ordinary user enters its own folder')
      return
    }
    assert.equal(root.startsWith(`${states}/project-`), true)
    assert.match(lines.join('\n'), new RegExp(`^warning: .* keeps the database in ${root}`))
    rmSync(join(closed, 'location'))
    assert.notEqual((await findPlace(wanted)).root, root)
    rmSync(join(closed, 'location'))
    await assert.rejects(
      findPlace({ ...wanted, stateFolder: '/proc/no-folder-can-be-made-here' }),
      /cannot enter .*, and no other place was found .*TOLLGATE_DATA_DIR/,
    )
  })
})

test('a folder that cannot be used is named, with the setting that chooses another', async (t) => {
  const project = newProject(t, null)
  writeFileSync(join(project, 'file'), '')
  await assert.rejects(
    openDirectory('file/.tollgate', project),
    /file\/\.tollgate cannot be used .*set TOLLGATE_DATA_DIR/,
  )
})
