import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openBooks } from '../../../connectors/simulator/books.ts'
import {
  account,
  card,
  euros,
  type Merchant,
  merchantAt,
  newKey,
  payment,
  plainCard,
} from './support.ts'

const program = fileURLToPath(
  new URL('../../../connectors/simulator/bin/tollgate-simulator.js', import.meta.url),
)

function folder(test: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-simulator-'))
  test.after(() => rmSync(path, { recursive: true }))
  return path
}

function run(test: TestContext, args: readonly string[]): ChildProcess {
  const options = ['--conditions=@tollgate/source', program, ...args]
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] })
  test.after(() => child.kill('SIGKILL'))
  return child
}

async function start(test: TestContext, ledger: string) {
  const child = run(test, ['--port', '0', '--ledger', ledger])
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  const { url, pid } = JSON.parse(line) as { url: string; pid: number }
  assert.equal(pid, child.pid)
  return { child, merchant: merchantAt(test, url), url }
}

async function killed(child: ChildProcess, signal: NodeJS.Signals) {
  child.kill(signal)
  return once(child, 'exit')
}

const enquire = (merchant: Merchant, operation: ReturnType<typeof payment>) =>
  merchant.connector.resolve.enquire!(operation, merchant.context())

describe('the acquirer as a process', () => {
  it('an acquirer that is killed at any moment has kept every payment it answered', async (test) => {
    const ledger = join(folder(test), 'ledger')
    const { child, merchant } = await start(test, ledger)
    const answered: ReturnType<typeof payment>[] = []
    const broken: ReturnType<typeof payment>[] = []
    const lost = payment('debit', { instrument: card('4000000000000341') })
    await merchant.run(lost).catch(() => undefined)
    const exit = once(child, 'exit')
    const load = Array.from({ length: 8 }, async () => {
      while (broken.length === 0) {
        const operation = payment('debit')
        try {
          await merchant.run(operation)
          answered.push(operation)
          if (answered.length === 100) child.kill('SIGKILL')
        } catch {
          broken.push(operation)
        }
      }
    })
    await Promise.all([...load, exit])
    assert.ok(answered.length >= 100)

    const again = await start(test, ledger)
    for (const operation of [...answered, lost]) {
      assert.equal((await enquire(again.merchant, operation)).is, 'approved')
      await again.merchant.run(operation).catch(() => undefined)
    }
    for (const operation of broken) await again.merchant.run(operation)
    const oracle = await fetch(`${again.url}/ledger`, {
      headers: { authorization: `Bearer ${account.secret}` },
    })
    const { totals } = (await oracle.json()) as {
      totals: Record<string, Record<string, { charged: string }>>
    }
    const all = answered.length + broken.length + 1
    assert.equal(totals[account.merchantId]?.EUR?.charged, String(9200 * all))
    assert.ok(!readFileSync(ledger, 'utf8').includes(plainCard))
    assert.equal(statSync(ledger).mode & 0o077, 0, 'only its owner may read the file')
    await killed(again.child, 'SIGKILL')
  })

  it('closed keys stay closed over a kill', async (test) => {
    const ledger = join(folder(test), 'ledger')
    const first = await start(test, ledger)
    const operation = payment('debit')
    await first.merchant.connector.resolve.reverseByKey!(operation, first.merchant.context())
    await killed(first.child, 'SIGKILL')
    const second = await start(test, ledger)
    assert.equal((await second.merchant.run(operation)).is, 'declined')
    const [code] = await killed(second.child, 'SIGTERM')
    assert.equal(code, 0, 'the process ends by itself on request')
  })

  it('the command of a clone starts it', async (test) => {
    const ledger = join(folder(test), 'ledger')
    const started = ['run', '--silent', 'simulator', '--', '--port', '0', '--ledger', ledger]
    const cwd = fileURLToPath(new URL('../../..', import.meta.url))
    const child = spawn('npm', started, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    test.after(() => child.kill())
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { url, pid } = JSON.parse(line) as { url: string; pid: number }
    assert.match(url, /^http:\/\/127\.0\.0\.1:[0-9]+$/)
    process.kill(pid, 'SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('wrong arguments print the usage', async (test) => {
    const child = run(test, ['--prot', '1'])
    const usage: string[] = []
    child.stderr!.setEncoding('utf8').on('data', (text: string) => usage.push(text))
    const [code] = await once(child, 'close')
    assert.equal(code, 2)
    assert.match(usage.join(''), /^Usage: tollgate-simulator/)
  })
})

describe('the ledger file', () => {
  const request = (key: string) => ({
    kind: 'debit' as const,
    key,
    paymentId: key,
    amount: euros(1),
    instrument: '',
    signs: {},
  })

  it('half a line at the end of the file is dropped: its change was never answered', async (test) => {
    const file = join(folder(test), 'ledger')
    const books = openBooks(file)
    books.decide('shop', request('one'), 0)
    await books.close()
    const whole = statSync(file).size
    appendFileSync(file, '{"merchantId":"shop","entr')
    const again = openBooks(file)
    assert.equal(again.page(0, 10).count, 1)
    assert.equal(statSync(file).size, whole)
    again.decide('shop', request('two'), 0)
    await again.close()
    const last = openBooks(file)
    assert.equal(last.page(0, 10).count, 2)
    await last.close()
  })

  it('any other broken line is refused by its number', async (test) => {
    const file = join(folder(test), 'ledger')
    writeFileSync(file, 'nonsense\n')
    assert.throws(() => openBooks(file), /ledger, line 1/)
  })

  it('safe() waits until every decision before it is on the disk, with many callers at once', async (test) => {
    const file = join(folder(test), 'ledger')
    const books = openBooks(file)
    const keys = Array.from({ length: 50 }, newKey)
    await Promise.all(
      keys.map(async (key) => {
        books.decide('shop', request(key), 0)
        await books.safe()
        assert.ok(readFileSync(file, 'utf8').includes(key))
      }),
    )
    await books.close()
  })
})
