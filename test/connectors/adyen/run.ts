/** The connector behind a real engine, before the sandbox. */
import type { Inbound } from '@tollgate/plugin-kit'
import plugin from '../../../connectors/adyen/index.ts'
import { batchLine, moneyLine, reportOf } from '../../../connectors/adyen/sandbox/report.ts'
import {
  cards,
  newAccount,
  type RunningAdyen,
  settingsOf,
  startAdyen,
} from '../../../connectors/adyen/sandbox/sandbox.ts'
import { type Front, openFront } from '../../../plugins/kit/testing/fault-proxy.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { streamed } from '../../rig/settlement.ts'

/** A fault for a new payment meets no work that an earlier test left behind. */
export const newPayment = /^POST \S*\/payments$/

export type AdyenRun = TestGateway & {
  readonly adyen: RunningAdyen
  /** Between engine and sandbox: faults of the line. */
  readonly front: Front
  readonly account: string
  pay(
    more?: Record<string, unknown>,
  ): Promise<{ readonly id: string; readonly result: { readonly code: string } }>
  keyOf(id: string): Promise<string>
  code(id: string): Promise<string>
  /** Delivers a webhook and waits until the engine has worked on its claims. */
  tell(...messages: readonly Inbound[]): Promise<void>
  /** The same to another account. */
  tellTo(account: string, ...messages: readonly Inbound[]): Promise<void>
  /** A second account of the merchant at the same merchant account of Adyen. */
  addAccount(): Promise<string>
  /** Imports a settlement report with lines of 92.00 EUR, and waits until the engine has worked on it; its id. */
  importReport(lines: readonly ReportLine[]): Promise<string>
  /** The webhook about the present state of an operation of the engine, delivered. */
  tellAbout(id: string): Promise<void>
  referenceOf(id: string): Promise<string>
  /** Makes all waiting work about a payment due now, and waits for a state. */
  untilCode(id: string, code: string): Promise<void>
  /** Open entries of the operators' list about a payment. */
  listed(id: string): Promise<string[]>
}

/** `Settled`, or any other type, and the names of the line. */
export type ReportLine = { readonly type: string; readonly names: Readonly<Record<string, string>> }

export async function startAdyenRun(): Promise<AdyenRun> {
  const account = newAccount()
  const adyen = await startAdyen(account)
  const front = await openFront(adyen.url)
  const run = await startGateway({
    plugins: [plugin],
    connectors: { adyen: { url: `${front.url}/v71`, reportUrl: adyen.url } },
  })
  const accountId = await run.gateway.entities.createAccount({
    channelId: run.channel,
    connector: 'adyen',
    mode: 'EXTERNAL',
    settings: settingsOf(account),
  })
  const keyOf = async (id: string) => {
    const [row] = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where id = $1',
      [id],
    )
    return row!.attempt_key
  }
  const codeOf = async (id: string) => {
    const [row] = await run.sql<{ result_code: string }>(
      'select result_code from tollgate.payment where id = $1',
      [id],
    )
    return row!.result_code
  }
  const referenceOf = async (id: string) => {
    const key = await keyOf(id)
    return (
      adyen.ledger.modifications.find(({ reference }) => reference.endsWith(`.${key}`))
        ?.reference ?? key
    )
  }
  const tellTo = async (to: string, ...messages: readonly Inbound[]) => {
    for (const message of messages) {
      const reply = await run.gateway.inbound('adyen', to, message)
      if (reply?.body !== '[accepted]') throw new Error(`Adyen would send it again: ${reply?.body}`)
    }
    await until(async () => {
      const [row] = await run.sql<{ open: bigint }>(
        // A message also waits for another process that works on its payment, and then comes again.
        `select count(*) as open from tollgate.inbound_event
          where processed_at is null
            and (waits = 0 or claim -> 'outcome' ->> 'is' not in ('chargeback', 'chargebackReversal'))`,
      )
      return row!.open === 0n ? true : undefined
    })
  }
  const tell = (...messages: readonly Inbound[]) => tellTo(accountId, ...messages)
  let batch = 100
  const importReport = async (lines: readonly ReportLine[]) => {
    batch += 1
    const day = new Date().toISOString().slice(0, 10)
    const about = { merchantAccount: account.merchantAccount, batch, day }
    const gross = { minor: 9200n, currency: 'EUR' }
    const bytes = reportOf([
      ...lines.map(({ type, names }) => ({
        ...moneyLine(about, { type, gross, isCredit: type === 'Settled' }),
        'Payment Method': 'visa',
        ...names,
      })),
      batchLine(about, 'MerchantPayout', gross, `TX${batch}`),
    ])
    const { id } = await run.gateway.settlement.import(streamed(bytes), { accountId })
    await until(async () => {
      const [file] = await run.sql<{ state: string; refused_why: string | null }>(
        'select state, refused_why from tollgate.settlement_file where id = $1',
        [id],
      )
      if (file?.refused_why) throw new Error(file.refused_why)
      return file?.state === 'done' ? true : undefined
    })
    return id
  }
  return {
    ...run,
    adyen,
    front,
    account: accountId,
    async addAccount() {
      const { entities } = run.gateway
      const parentId = run.merchant
      const channelId = await entities.create({ kind: 'channel', name: 'second shop', parentId })
      const at = { connector: 'adyen', mode: 'EXTERNAL' } as const
      return entities.createAccount({ channelId, ...at, settings: settingsOf(account) })
    },
    pay: (more = {}) =>
      run.pay({ ...card(cards.approved), testMode: 'EXTERNAL', ...more }) as never,
    keyOf,
    code: codeOf,
    referenceOf,
    tell,
    tellTo,
    importReport,
    tellAbout: async (id) => tell(adyen.messageAbout(await referenceOf(id))),
    async untilCode(id, code) {
      const key = await keyOf(id)
      await until(async () => {
        if ((await codeOf(id)) === code) return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
    },
    async listed(id) {
      const rows = await run.sql<{ kind: string }>(
        'select kind from tollgate.attention where payment_id = $1 and resolved_at is null order by kind',
        [id],
      )
      return rows.map(({ kind }) => kind)
    },
    async close() {
      try {
        await closeChecked(run)
      } finally {
        await front.close()
        await adyen.close()
      }
    },
  }
}

/** A payment whose shopper stayed away, and that Adyen could take back in neither way. */
export async function abandoned(run: AdyenRun) {
  const { ledger } = run.adyen
  const shopper = { ...card(cards.redirect), shopperResultUrl: 'https://shop.example/back' }
  const { id } = await run.pay(shopper)
  const key = await run.keyOf(id)
  await until(async () => {
    if (!(await run.code(id)).startsWith('000')) return true
    if (ledger.undoOf(key)?.state === 'asked') {
      ledger.endUndo(key, 'by itself')
      await run.tell(run.adyen.messageAbout(key))
    }
    await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
    return undefined
  })
  return { id, key, there: ledger.byReference(key)! }
}

export { cards }
