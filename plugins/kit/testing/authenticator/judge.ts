import type { Authentication } from '../../authenticator.ts'
import { Sensitive } from '../../sensitive.ts'
import type { Told } from '../environment.ts'
import { isMoney } from '../judge.ts'

/** An answer, that there is none, or that the server knows no such key. */
export type Answered = Authentication | { is: 'notFound' } | { is: 'unknown'; why: string }

const unknown = (why: string): Answered => ({ is: 'unknown', why })

/**
 * An engine's reading of an authenticator's answer or error. A malformed answer is no answer, and no
 * answer is never a proof.
 */
export function checkedAnswer({ returned, thrown }: Told<unknown>): Answered {
  if (thrown !== undefined) return unknown('the call threw')
  if (typeof returned !== 'object' || returned === null) return unknown('nothing was returned')
  const answer = returned as Answered
  switch (answer.is) {
    case 'authenticated':
    case 'attempted':
    case 'informational': {
      const { verificationId, version, amount } = answer
      if (typeof version !== 'string') return unknown('the version of the protocol is missing')
      if (verificationId !== undefined && !Sensitive.is(verificationId)) {
        return unknown('verificationId must be Sensitive')
      }
      if (amount !== undefined && !isMoney(amount)) return unknown('the amount is none')
      return answer
    }
    case 'failed':
      return answer.status === 'N' || answer.status === 'R' ? answer : unknown('no such status')
    case 'shopper':
      return isRedirect(answer.next) ? answer : unknown('the shopper has no web address to go to')
    case 'decoupled':
      return answer.poll > 0 ? answer : unknown('decoupled without a pause')
    case 'cancelled':
    case 'unavailable':
    case 'notEnrolled':
    case 'notFound':
      return answer
    default:
      return unknown('there is no such answer')
  }
}

/** A browser goes to these addresses, so no other scheme will do. */
function isRedirect(next: unknown): boolean {
  const { redirect } = Object(next) as { redirect?: unknown }
  const { url, preconditions = [] } = Object(redirect) as {
    url?: unknown
    preconditions?: readonly { url?: unknown }[]
  }
  return [url, ...preconditions.map((step) => step.url)].every(isWebAddress)
}

const isWebAddress = (url: unknown): boolean =>
  typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')

export const isProven = ({ is }: Answered): boolean => is === 'authenticated' || is === 'attempted'

/** An answer in a few words, for messages of failed cases. */
export function toldOf(answer: Answered, thrown?: unknown): string {
  const why = 'why' in answer ? ` (${answer.why})` : ''
  const status = answer.is === 'failed' ? ` ${answer.status}` : ''
  const error = thrown instanceof Error ? `: ${thrown.name} was thrown, ${thrown.message}` : ''
  return `${answer.is}${status}${why}${error}`
}

/** An answer with its proof as text, for comparison. */
export function comparable(answer: Answered): unknown {
  if (!('verificationId' in answer) || answer.verificationId === undefined) return answer
  return { ...answer, verificationId: answer.verificationId.reveal() }
}
