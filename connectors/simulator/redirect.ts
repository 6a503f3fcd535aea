/** The way of a shopper to the page of the simulator inside the process, and back. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context, Operation, Records, Redirect } from '@tollgate/plugin-kit'
import type { Answer } from './answer.ts'
import { merchantInside } from './authentication/keep.ts'
import { shopOf, textAt } from './authentication/question.ts'
import { secretOf } from './keep.ts'
import { bankUrlOf } from './pages/bank.ts'

const proofParameter = 'simulatorProof'

async function proofOf(key: string, records: Records): Promise<string> {
  return createHmac('sha256', await secretOf(records))
    .update(`shopper ${key}`)
    .digest('hex')
}

/** Whether a return holds the proof that only a redirect without a page has. */
export async function isProof(
  query: Readonly<Record<string, string>>,
  key: string,
  records: Records,
): Promise<boolean> {
  const given = Buffer.from(query[proofParameter] ?? '')
  if (given.length === 0) return false
  const right = Buffer.from(await proofOf(key, records))
  return given.length === right.length && timingSafeEqual(given, right)
}

/** The redirect of an open payment. Where no page is served, the shopper returns at once with a proof. */
export async function redirectOf(
  answer: Answer,
  operation: Pick<Operation, 'key' | 'returnUrl' | 'brand' | 'request'>,
  { records, pagesUrl }: Pick<Context, 'records' | 'pagesUrl'>,
): Promise<Redirect | undefined> {
  const { key, returnUrl } = operation
  if (answer.wait !== 'shopper' || returnUrl === undefined) return undefined
  if (pagesUrl === undefined) {
    const parameters = [{ name: proofParameter, value: await proofOf(key, records) }]
    return { redirect: { url: returnUrl, method: 'GET', parameters } }
  }
  const visit = { merchantId: merchantInside, key, ...shownOnPage(operation) }
  const url = bankUrlOf(pagesUrl, visit, await secretOf(records))
  return { redirect: { url, method: 'GET', parameters: [] } }
}

/** What the bank's page shows beside the books. */
export function shownOnPage({
  returnUrl,
  brand,
  request,
}: Pick<Operation, 'returnUrl' | 'brand' | 'request'>) {
  const shop = shopOf(request)
  const language = textAt(request, 'customer', 'browser', 'language')
  return {
    ...(returnUrl === undefined ? {} : { returnUrl }),
    ...(brand === undefined ? {} : { brand }),
    ...(shop === undefined ? {} : { shop }),
    ...(language === undefined ? {} : { language }),
  }
}
