import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startGateway } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { root } from '../../rig/sources.ts'

type Read = (
  headers: Readonly<Record<string, string>>,
  body: string,
  secrets: { signingSecret: string; encryptionKey: string },
) => { id: string; type: string; payload: { id: string } }

test("the guide's program verifies and opens every wrapper and refuses changed messages", async () => {
  const guide = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')
  const source = /```js\n([\s\S]*?)\n```/.exec(guide)?.[1] ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'))
  const run = await startGateway()
  const receiver = await startReceiver()
  try {
    writeFileSync(join(folder, 'read.mjs'), source)
    const { readWebhook } = (await import(pathToFileURL(join(folder, 'read.mjs')).href)) as {
      readWebhook: Read
    }
    for (const [index, wrapper] of ['TEXT', 'JSON', 'NONE'].entries()) {
      const { id, signingSecret, encryptionKey } = await run.gateway.webhooks.create({
        entityId: run.merchant,
        url: receiver.url,
        wrapper,
      } as never)
      const secrets = { signingSecret: signingSecret!, encryptionKey: encryptionKey! }
      const paid = await run.pay()
      const got = (await receiver.atLeast(index + 1))[index]!
      const read = readWebhook(got.headers, got.body, secrets)
      assert.deepEqual([read.type, read.payload.id], ['PAYMENT', paid.id])
      assert.throws(() => readWebhook(got.headers, `${got.body} `, secrets), /not signed/)
      const old = { ...got.headers, 'webhook-timestamp': '1700000000' }
      assert.throws(() => readWebhook(old, got.body, secrets), /too old/)
      await run.gateway.webhooks.remove(id)
    }
  } finally {
    await run.close()
    await receiver.close()
    rmSync(folder, { recursive: true })
  }
})
