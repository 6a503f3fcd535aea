/** Mistakes that show only in answers other than plain ones, and in currencies other than the usual one. */
import { approved, declined, type HttpAnswer, type Operation } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import {
  claiming,
  contextOver,
  enquiring,
  overHttp,
  resolving,
  saying,
  sending,
  type Wrong,
} from './changed-connector.ts'

const currencies = 'every currency keeps its amount and its name, also in events'
const inPart = 'a partial approval of a smaller amount is never taken for the whole'
const refused = 'a reversal by key that the acquirer refuses proves nothing'
const failed = 'a reversal by key with a malfunction proves nothing'

export const answerMistakes: readonly Wrong[] = [
  {
    what: 'sends dollars under the name of pounds',
    connector: sending((operation) =>
      operation.amount.currency === 'USD'
        ? { ...operation, amount: { ...operation.amount, currency: 'GBP' } }
        : operation,
    ),
    noticed: [currencies],
  },
  {
    what: 'sends whole dollars',
    connector: sending((operation) => {
      const { minor, currency } = operation.amount
      if (currency !== 'USD') return operation
      return { ...operation, amount: { minor: minor / 100n, currency } }
    }),
    noticed: [currencies],
  },
  {
    what: 'takes every event for one in euros',
    connector: claiming((claim) => ({ ...claim, amount: { ...claim.amount, currency: 'EUR' } })),
    noticed: [currencies],
  },
  {
    what: 'completes what is missing at the end of an answer',
    connector: overHttp(
      (send) => async (method, url, options) => mended(await send(method, url, options)),
    ),
    noticed: ['an answer that is cut at any byte says nothing else than the whole'],
  },
  {
    what: 'takes an approval without a code for one',
    connector: overHttp(
      (send) => async (method, url, options) =>
        withCode(await send(method, url, options), (code) => code ?? '00'),
    ),
    noticed: ['an approval without its code leaves the outcome unknown'],
  },
  {
    what: 'takes a partial approval for one of the whole',
    connector: overHttp(
      (send) => async (method, url, options) =>
        withCode(await send(method, url, options), (code) => (code === '10' ? '00' : code)),
    ),
    noticed: ['a partial approval without a smaller amount leaves the outcome unknown'],
  },
  {
    what: 'takes a partial approval for one of the whole, when its amount is smaller',
    connector: overHttp(
      (send, operation) => async (method, url, options) =>
        withWhole(await send(method, url, options), operation),
    ),
    noticed: [inPart],
  },
  {
    what: 'finds a partial approval of a smaller amount, and takes it for the whole',
    connector: enquiring((operation, context) =>
      right.resolve.enquire!(
        operation,
        contextOver(
          context,
          operation,
          (send) => async (method, url, options) =>
            withWhole(await send(method, url, options), operation),
        ),
      ),
    ),
    noticed: [inPart],
  },
  {
    what: 'takes a malfunction at a refund for a decline',
    connector: saying(
      (outcome) =>
        outcome.is === 'unknown' && outcome.why.includes('system of the bank')
          ? declined('900.100.500')
          : outcome,
      ['refund'],
    ),
    noticed: ['a malfunction leaves captures, refunds and other follow-ups unknown'],
  },
  {
    what: 'takes a capture of another amount for the whole',
    connector: saying(
      (outcome) => (outcome.is === 'approved' ? approved(outcome.refs) : outcome),
      ['capture'],
    ),
    noticed: ['a capture or a refund of another amount is never taken for the whole'],
  },
  {
    what: 'takes a refused reversal for a needless one',
    connector: reversing('refused', 'nothing'),
    noticed: [refused],
  },
  {
    what: 'takes a refused reversal for one that was done',
    connector: reversing('refused', 'reversed'),
    noticed: [refused],
  },
  {
    what: 'takes a malfunction at a reversal for one that was done',
    connector: reversing('unknown', 'reversed'),
    noticed: [failed],
  },
]

function reversing(from: 'refused' | 'unknown', to: 'nothing' | 'reversed') {
  return resolving({
    async reverseByKey(operation, context) {
      const answer = await right.resolve.reverseByKey!(operation, context)
      return answer.is === from ? { is: to } : answer
    },
  })
}

/** The answer of a partial approval of a smaller amount, as one of the whole. */
function withWhole(answer: HttpAnswer, { amount }: Operation): HttpAnswer {
  const json = () => {
    const body = answer.json() as { readonly code?: string; readonly amount?: { value?: string } }
    const whole = { value: String(amount.minor), currency: amount.currency }
    const isPart = body.code === '10' && body.amount?.value !== whole.value
    return isPart ? { ...body, code: '00', amount: whole } : body
  }
  return { ...answer, json }
}

function withCode(answer: HttpAnswer, change: (code: unknown) => unknown): HttpAnswer {
  const json = () => {
    const body = answer.json() as Record<string, unknown>
    return { ...body, code: change(body.code) }
  }
  return { ...answer, json }
}

/** The answer, read as generously as some parsers do. */
function mended(answer: HttpAnswer): HttpAnswer {
  const json = () => {
    for (const end of ['', '","currency":"EUR"}}', '","value":"9200"}}', '"}}', '"}', '}']) {
      try {
        return JSON.parse(answer.text() + end) as unknown
      } catch {}
    }
    return answer.json()
  }
  return { ...answer, json }
}
