/** The demo shop of an installation: it comes with the demo channel, on a port of its own. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { readSettings } from '../../../host/config/read-settings.ts'
import { silent } from '../../../host/http/request-log.ts'
import { serve } from '../../../host/serve/serve.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'

describe('the demo shop of an installation', () => {
  let database: TestDatabase
  let folder: string
  before(async () => {
    database = await createDatabase()
    folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'))
  })
  after(async () => {
    await database.drop()
    rmSync(folder, { recursive: true })
  })
  const start = (environment: Readonly<Record<string, string>> = {}) => {
    const settings = readSettings({
      environment: {
        DATABASE_URL: database.url,
        PORT: '0',
        TOLLGATE_DATA_DIR: folder,
        ...environment,
      },
    })
    return serve(settings, { folder, log: silent })
  }

  test('shows a checkout whose script the gateway serves, and ends with it', async () => {
    const served = await start()
    const shopUrl = served.demo?.shopUrl ?? ''
    assert.notEqual(new URL(shopUrl).port, new URL(served.url ?? '').port)
    const response = await fetch(shopUrl)
    assert.equal(response.status, 200)
    const html = await response.text()
    assert.ok(!html.includes(served.demo?.accessToken ?? 'none'))
    const [, source = '', integrity = ''] =
      /<script async src="([^"]+)" integrity="([^"]+)"/.exec(html) ?? []
    assert.ok(source.startsWith(`${served.url}/v1/paymentWidgets.js?checkoutId=`))
    assert.match(integrity, /^sha384-/)
    assert.equal((await fetch(source)).status, 200)
    await served.close()
    await assert.rejects(fetch(shopUrl))
  })

  test('shoppers come back under the name that browsers know', async () => {
    const names = {
      TOLLGATE_PUBLIC_URL: 'http://pay.localhost:8080',
      TOLLGATE_FIELDS_URL: 'http://fields.localhost:8080',
    }
    const served = await start(names)
    try {
      const response = await fetch(served.demo?.shopUrl ?? '')
      assert.match(
        await response.text(),
        /src="http:\/\/pay\.localhost:8080\/v1\/paymentWidgets\.js/,
      )
      const policy = response.headers.get('content-security-policy') ?? ''
      assert.match(
        policy,
        /frame-src http:\/\/pay\.localhost:8080 http:\/\/fields\.localhost:8080;/,
      )
    } finally {
      await served.close()
    }
  })

  test('keeps one webhook endpoint, however often it starts', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      const first = await start()
      await first.close()
      const again = await start()
      const { rows } = await client.query(
        'select url, active from tollgate.webhook_endpoint where removed_at is null',
      )
      const { origin } = new URL(again.demo?.shopUrl ?? '')
      assert.deepEqual(rows, [{ url: `${origin}/demo-shop/notifications`, active: true }])
      await again.close()
    } finally {
      await client.end()
    }
  })

  test('stays away without the demo channel', async () => {
    const served = await start({ TOLLGATE_DEMO: 'false' })
    try {
      assert.equal(served.demo, undefined)
    } finally {
      await served.close()
    }
  })
})
