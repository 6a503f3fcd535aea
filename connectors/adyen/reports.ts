/** Settlement details reports: announced by webhooks, fetched over HTTPS. */
import {
  basicAuthorization,
  type Context,
  type Json,
  type Records,
  type RemoteFile,
} from '@tollgate/plugin-kit'
import { endsWithPayout } from './settlement.ts'

/** Whether an announced file is a settlement details report. Its name is one part of a path, and can have any sign there. */
export const isSettlementReport = (name: string): boolean =>
  /^settlement_detail_report[^/\\\p{C}]{0,200}\.csv$/u.test(name)

const countName = 'reports'
const nthName = (no: number): string => `report:${no}`
const seenName = (name: string): string => `report-name:${name}`
const triesName = (no: number): string => `report-tries:${no}`

/** The last place of a report in the list, and whether it was fetched from there. */
type Seen = { readonly no: number; readonly isFetched: boolean }

const seenIn = (value: Json | undefined): Seen | undefined =>
  // Earlier versions kept the number alone, and fetched a report once.
  typeof value === 'number' ? { no: value, isFetched: true } : (value as Seen | undefined)

/**
 * Puts a report at the end of the list of its account. One that was fetched comes again: Adyen may have generated it
 * anew, and the bytes of a mere repeat are known.
 */
export async function announce(records: Records, name: string): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const before = await records.get(seenName(name))
    const seen = seenIn(before)
    if (seen?.isFetched === false) return
    const count = await records.get(countName)
    const no = (typeof count === 'number' ? count : 0) + 1
    // After a crash in between, this place holds the report already, or another one.
    await records.swap(nthName(no), undefined, name)
    const held = await records.get(nthName(no))
    await records.swap(countName, count, no)
    if (held === name) {
      await records.swap(seenName(name), before, { no, isFetched: false })
      return
    }
  }
  throw new Error('the list of reports changes all the time')
}

/** The report was fetched, or given up: another announcement of it is news. */
async function endFetch(records: Records, name: string, no: number): Promise<void> {
  const value = await records.get(seenName(name))
  const seen = seenIn(value)
  if (seen === undefined || seen.no !== no || seen.isFetched) return
  await records.swap(seenName(name), value, { no, isFetched: true })
}

const mostTries = 8

type Account = {
  readonly merchantAccount: string
  readonly reportUser?: string
  readonly reportPassword?: string
}

/** Hourly, this is a day. After it, the report is a file that Tollgate refuses and lists, and the next ones come. */
const mostFetches = 24

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
        // An incomplete file would be refused, and nobody would fetch it again.
        const isWhole = status === 200 && endsWithPayout(body)
        if (!isWhole && !(isOfReport(status) && (await isGivenUp(records, no)))) {
          throw new Error(
            status === 200
              ? 'the report did not arrive as a whole'
              : `the report cannot be fetched: HTTP ${status}`,
          )
        }
        await endFetch(records, name, no)
        return (async function* () {
          yield status === 200 ? body : Buffer.from(`${name}: Adyen answered HTTP ${status}\n`)
        })()
      },
    }
  }
}

/** A wrong login, too many requests and a failure of the server say nothing about one report. */
const isOfReport = (status: number): boolean =>
  status < 500 && ![401, 403, 408, 429].includes(status)

/** Counts the tries to fetch a report. */
async function isGivenUp(records: Records, no: number): Promise<boolean> {
  const value = await records.get(triesName(no))
  const tries = typeof value === 'number' ? value + 1 : 1
  await records.swap(triesName(no), value, tries)
  return tries >= mostFetches
}
