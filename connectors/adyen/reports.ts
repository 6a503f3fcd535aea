/** Settlement details reports: announced by webhooks, fetched over HTTPS. */
import {
  basicAuthorization,
  type Context,
  type Records,
  type RemoteFile,
} from '@tollgate/plugin-kit'
import { endsWithPayout } from './settlement.ts'

const reportName = /^settlement_detail_report[\w.-]{0,150}\.csv$/

/** Whether an announced file is a settlement details report. Its name is a part of an address. */
export const isSettlementReport = (name: string): boolean =>
  reportName.test(name) && !name.includes('..')

const countName = 'reports'
const nthName = (no: number): string => `report:${no}`
const seenName = (name: string): string => `report-name:${name}`

/** Puts a report at the end of the list of its account, once. */
export async function announce(records: Records, name: string): Promise<void> {
  if ((await records.get(seenName(name))) !== undefined) return
  for (let tries = 0; tries < mostTries; tries += 1) {
    const count = await records.get(countName)
    const no = (typeof count === 'number' ? count : 0) + 1
    // After a crash in between, this place holds the report already, or another one.
    await records.swap(nthName(no), undefined, name)
    const held = await records.get(nthName(no))
    await records.swap(countName, count, no)
    if (held === name) {
      await records.swap(seenName(name), undefined, no)
      return
    }
  }
  throw new Error('the list of reports changes all the time')
}

const mostTries = 8

type Account = {
  readonly merchantAccount: string
  readonly reportUser?: string
  readonly reportPassword?: string
}

/** A report is larger than other answers. */
const mostBytes = 256 * 1024 * 1024

/** The announced reports behind the cursor, which is the number of the last one. */
export async function* fetchReports(
  cursor: string | undefined,
  {
    http,
    records,
    account,
    log,
  }: Pick<Context<unknown, Account>, 'http' | 'records' | 'account' | 'log'>,
  origin: string,
): AsyncGenerator<RemoteFile> {
  const { merchantAccount, reportUser, reportPassword } = account
  const count = await records.get(countName)
  const last = typeof count === 'number' ? count : 0
  const from = Number(cursor ?? 0)
  if (from >= last) return
  if (reportUser === undefined || reportPassword === undefined) {
    log.warn({}, 'reports were announced, but the account has no reportUser and reportPassword')
    return
  }
  const authorization = basicAuthorization(reportUser, reportPassword)
  for (let no = from + 1; no <= last; no += 1) {
    const name = await records.get(nthName(no))
    if (typeof name !== 'string') throw new Error(`the report ${no} has no name`)
    yield {
      name,
      cursor: String(no),
      async open() {
        const path = [merchantAccount, name].map(encodeURIComponent).join('/')
        const url = `${origin}/reports/download/MerchantAccount/${path}`
        const { status, body } = await http.get(
          url,
          {},
          { headers: { authorization }, maxBytes: mostBytes },
        )
        if (status !== 200) throw new Error(`the report cannot be fetched: HTTP ${status}`)
        // An incomplete file would be refused, and nobody would fetch it again.
        if (!endsWithPayout(body)) throw new Error('the report did not arrive as a whole')
        return (async function* () {
          yield body
        })()
      },
    }
  }
}
