/** Reports over HTTP: their answers, streams to slow clients, and clients that go. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { createHost, type HostOptions } from '../../../host/index.ts'
import { type ReportRun, startReports } from '../../core/report/report-run.ts'
import { until } from '../../rig/gateway.ts'
import { ask, type LoggedLine } from './hosted.ts'

const root = '/reports/v1/reconciliations'
const days = 'date.from=2026-03-01&date.to=2026-03-31&currency=EUR&testMode=EXTERNAL'
const partBytes = 1024 * 1024

describe('reports over HTTP', () => {
  let run: ReportRun
  let token: string
  let url: string
  let aggregation: string
  let file: string
  let close: () => Promise<void>
  const lines: LoggedLine[] = []
  const host = async (options: HostOptions = {}) => {
    const record = (fields: object) => void lines.push(fields as LoggedLine)
    const log = { debug: record, info: record, warn: record }
    return createHost(run.gateway, { port: 0, log, shutdownGraceMs: 0, ...options }).listen()
  }

  before(async () => {
    run = await startReports()
    token = (await run.gateway.entities.createToken(run.merchant, 'reader', { rights: ['read'] }))
      .token
    const served = await host()
    url = served.url
    close = served.close
    await run.file(
      Array.from({ length: 120 }, (_, at) => ({
        ...{ settlementId: `S-${at}`, batch: 'payout-1', date: '2026-03-31', holder: 'Jördis' },
      })),
    )
    file = (await run.cut())[0]!
    const { body } = await ask(url, `${root}/aggregations?${days}`, { token })
    aggregation = (body.aggregations as { id: string }[])[0]!.id
  })
  after(async () => {
    await close()
    await run.close()
  })

  test('list payouts, and read one with its records', async () => {
    const list = await ask(url, `${root}/aggregations?${days}`, { token })
    assert.equal(list.status, 200)
    const [listed] = list.body.aggregations as Record<string, unknown>[]
    const { status, headers, body } = await ask(url, `${root}/aggregations/${aggregation}`, {
      token,
    })
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8')
    assert.equal(headers.get('content-length'), null)
    const { records, result, buildNumber, timestamp, ndc, ...facts } = body
    assert.deepEqual(facts, listed)
    assert.ok(result.code === '000.100.110' && buildNumber && timestamp)
    assert.equal(ndc, headers.get('x-request-id'))
    const ids = (records as { id: string }[]).map(({ id }) => id)
    assert.equal(new Set(ids).size, 120)
    const pages = await Promise.all(
      [1, 2].map((pageNo) =>
        ask(url, `/reports/v2/reconciliations/aggregations/${aggregation}?pageNo=${pageNo}`, {
          token,
        }),
      ),
    )
    assert.deepEqual(
      pages.flatMap((page) => page.body.records),
      records,
    )
    assert.deepEqual(
      pages.map((page) => page.body.pages),
      [2, 2],
    )
  })

  test('a range without payouts is a success', async () => {
    const empty = days.replaceAll('2026', '2020')
    const { status, body } = await ask(url, `${root}/aggregations?${empty}`, { token })
    assert.deepEqual([status, body.aggregations], [200, []])
  })

  test('wrong parameters are named', async () => {
    const named = async (path: string) => {
      const { status, body } = await ask(url, path, { token })
      return [status, ...(body.result.parameterErrors ?? []).map(({ name }) => name)]
    }
    assert.deepEqual(await named(`${root}/aggregations`), [400, 'date.from', 'date.to', 'currency'])
    assert.deepEqual(await named(`${root}/aggregations?${days}&limit=0`), [400, 'limit'])
    assert.deepEqual(await named(`${root}/aggregations?${days.replace('-31', '-32')}`), [
      400,
      'date.to',
    ])
    const one = `aggregations/${aggregation}`
    assert.deepEqual(await named(`${root}/${one}?sortValue=Amount`), [400, 'sortValue'])
    assert.deepEqual(await named(`${root}/${one}?sortOrder=UP`), [400, 'sortOrder'])
    const paged = `/reports/v2/reconciliations/${one}`
    assert.deepEqual(await named(`${paged}?pageNo=0`), [400, 'pageNo'])
    assert.deepEqual(await named(`${paged}?reconciliationType=ALL`), [400, 'reconciliationType'])
    assert.deepEqual(await named(`${root}/files?cursor=x`), [400, 'cursor'])
    assert.deepEqual(await named(`${root}/files/${newId()}`), [404])
    assert.deepEqual(await named(`${root}/aggregations/nonsense`), [404])
  })

  test('need the right to read', async () => {
    const writer = await run.gateway.entities.createToken(run.merchant, 'writer', {
      rights: ['charge'],
    })
    for (const path of [
      `aggregations?${days}`,
      `aggregations/${aggregation}`,
      'files',
      `files/${file}`,
    ]) {
      const { status, body } = await ask(url, `${root}/${path}`, { token: writer.token })
      assert.deepEqual([status, body.result.code], [403, '800.900.301'], path)
      assert.equal((await ask(url, `${root}/${path}`)).status, 401, path)
    }
  })

  test('send a file as it is stored', async () => {
    const list = await ask(url, `${root}/files`, { token })
    const [listed] = list.body.files as Record<string, unknown>[]
    const answer = await fetch(`${url}${root}/files/${file}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    assert.deepEqual(bytes, await run.bytesOf(file))
    assert.equal(answer.headers.get('content-type'), 'text/csv;charset=UTF-8')
    assert.equal(answer.headers.get('content-length'), String(listed!.bytes))
    assert.equal(
      answer.headers.get('content-disposition'),
      `attachment; filename="${listed!.name}"`,
    )
    assert.equal(listed!.rows, 120)
    const head = await fetch(`${url}${root}/files/${file}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(head.headers.get('content-length'), String(listed!.bytes))
  })

  /** Requests a large file, and stops reading after the first bytes. */
  const stalled = async (path: string, at = url): Promise<Socket> => {
    const socket = connect(Number(new URL(at).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }
  test('send a large file whole, and stop for a client that goes', async () => {
    const large = await largeFile(run, 64)
    const socket = await stalled(`${root}/files/${large.id}`)
    let received = 0
    for await (const chunk of socket) {
      received += chunk.length
      if (received >= large.bytes) socket.end()
    }
    assert.ok(received > large.bytes)
    const silent = await stalled(`${root}/files/${large.id}`)
    const gone = () => lines.filter((line) => line.gone === true).length
    const earlier = gone()
    silent.destroy()
    // The line comes when the work behind the answer has ended.
    await until(async () => (gone() > earlier ? true : undefined))
  })

  test('end a connection whose client stops reading', async () => {
    const large = await largeFile(run, 64)
    const served = await host({ answers: { silenceMs: 40 } })
    try {
      const socket = await stalled(`${root}/files/${large.id}`, served.url)
      await until(async () => {
        if (!socket.destroyed) socket.write('\r\n')
        return socket.destroyed ? true : undefined
      })
    } finally {
      await served.close()
    }
  })

  test('break the connection off when the stored bytes are wrong, never end it well', async () => {
    const large = await largeFile(run, 2)
    await run.sql('delete from tollgate.report_part where file_id = $1 and no = 1', [large.id])
    const answer = await fetch(`${url}${root}/files/${large.id}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(answer.status, 200)
    await assert.rejects(answer.arrayBuffer())
    await run.sql('delete from tollgate.report_part where file_id = $1', [large.id])
    const missing = await ask(url, `${root}/files/${large.id}`, { token })
    assert.deepEqual([missing.status, missing.body.result.code], [500, '600.100.100'])
  })
})

/** A published file of so many MiB. */
async function largeFile(run: ReportRun, parts: number): Promise<{ id: string; bytes: number }> {
  const id = newId()
  const bytes = parts * partBytes
  await run.sql(
    `insert into tollgate.report_part (file_id, no, bytes)
     select $1, no, decode(repeat('61', $3), 'hex') from generate_series(0, $2 - 1) as part (no)`,
    [id, parts, partBytes],
  )
  await run.sql(
    `insert into tollgate.report_file (id, entity_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count, rows, made_at)
     select $1, $2, coalesce(max(no), 0) + 1, 'large.csv', sha256($4), sha256($4), $3, $3, 1, now()
     from tollgate.report_file where entity_id = $2 and clock_id is null`,
    [id, run.merchant, bytes, Buffer.alloc(bytes, 'a')],
  )
  return { id, bytes }
}
