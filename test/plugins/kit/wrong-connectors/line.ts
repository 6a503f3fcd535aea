/** Mistakes after a fault on the line to the acquirer. */
import { setImmediate } from 'node:timers/promises'
import {
  approved,
  declined,
  HttpError,
  type Kind,
  notSent,
  type Outcome,
} from '@tollgate/plugin-kit'
import { lineFaults } from '../../../../plugins/kit/testing/cases/line.ts'
import { around, byStatus, catching, overHttp, saying, type Wrong } from './changed-connector.ts'

const open = (fault: string) => `a fault leaves the outcome unknown: ${fault}`
const foreign = 'a status without words of the acquirer leaves the outcome unknown'
/** Every case of a fault. */
export const faultCases = [...Object.keys(lineFaults).map(open), foreign]
const silences = [
  open('no answer in time, and the acquirer never got it'),
  open('no answer in time, though the acquirer did it'),
  open('half an answer, and then silence'),
]
const breaks = [
  ...silences,
  open('a reset before the acquirer got it'),
  open('a reset after the acquirer did it'),
  open('an answer that is cut off'),
  open('an answer without an end'),
]

/** Statuses that sound as if nothing had happened. */
const declining = (statuses: readonly number[], only?: readonly Kind[]) =>
  around(
    (handler) =>
      byStatus(handler, (status) =>
        statuses.includes(status) ? declined('900.100.300') : undefined,
      ),
    only,
  )

export const lineMistakes: readonly Wrong[] = [
  {
    what: 'takes an overloaded machine or its time-out for a decline',
    connector: declining([503, 504, 408, 429]),
    noticed: [foreign],
  },
  {
    what: 'takes HTTP 400, 402, 409 and 422 for a decline, whatever the body says',
    connector: declining([400, 402, 409, 422]),
    noticed: [foreign],
  },
  ...[400, 403, 404, 408, 409, 429, 503, 504].map(
    (status): Wrong => ({
      what: `takes HTTP ${status} for a decline in one kind alone`,
      connector: declining([status], [status % 2 === 0 ? 'credit' : 'capture']),
      noticed: [foreign],
    }),
  ),
  {
    what: 'takes every error for a decline',
    connector: catching(() => declined('800.100.100')),
    noticed: [
      ...breaks,
      'a refused connection proves that nothing was sent',
      'nothing moves after the time for sending',
    ],
  },
  {
    what: 'takes a refund that broke off for declined',
    connector: catching(() => declined('800.100.100'), ['refund']),
    noticed: [
      ...breaks,
      'a refused connection proves that nothing was sent',
      'nothing moves after the time for sending',
    ],
  },
  {
    what: 'takes what it cannot read for a decline',
    connector: saying((outcome) => (outcome.is === 'unknown' ? declined('800.100.100') : outcome)),
    noticed: [
      ...faultCases.filter((name) => !breaks.includes(name)),
      'the answer to another payment is not accepted',
    ],
  },
  {
    what: 'takes what it cannot read for approved',
    connector: saying((outcome) =>
      outcome.is === 'unknown' ? approved({ id: 'later' }) : outcome,
    ),
    noticed: [
      ...faultCases.filter((name) => !breaks.includes(name)),
      'the answer to another payment is not accepted',
    ],
  },
  {
    what: 'says notSent of everything that went wrong',
    connector: catching(() => notSent('it went wrong')),
    noticed: ['notSent is never returned after a request was written'],
  },
  {
    what: 'declines the card when a look-up before the payment fails',
    connector: around((handler) => async (operation, context) => {
      const { status } = await context.http.get(`${context.config.url}/account`)
      return status >= 500 ? declined('800.100.152') : handler(operation, context)
    }),
    noticed: [
      'a fault of a request before the one that moves money moves nothing, and ends nothing',
    ],
  },
  {
    what: 'sends again after a time-out or a reset',
    connector: around(
      (handler) => (operation, context) =>
        handler(operation, context).catch(() => handler(operation, context)),
    ),
    noticed: ['a request is sent once, because the engine decides about retries'],
  },
  {
    what: 'sends again when the acquirer says HTTP 503',
    connector: overHttp((send) => async (method, url, options) => {
      const answer = await send(method, url, options)
      return answer.status === 503 ? send(method, url, options) : answer
    }),
    noticed: ['a request is sent once, because the engine decides about retries'],
  },
  {
    what: 'gives up on an answer that does not come at once',
    connector: overHttp((send) => async (method, url, options) => {
      const answer = send(method, url, options)
      answer.catch(() => {})
      const impatient = async () => {
        for (let turn = 0; turn < 150; turn += 1) await setImmediate()
        throw new HttpError('timeout', 'it takes too long', true)
      }
      return Promise.race([answer, impatient()])
    }),
    noticed: ['an answer is read byte by byte'],
  },
  {
    what: 'never ends after its time is over',
    connector: catching(
      (error) =>
        error instanceof HttpError && error.code === 'timeout'
          ? new Promise<Outcome>(() => {})
          : Promise.reject(error),
      ['credit'],
    ),
    isEndless: true,
    noticed: [
      ...silences,
      'an enquiry finds an operation whose answer was lost',
      'a request is sent once, because the engine decides about retries',
    ],
  },
]
