/** Mistakes of the connector that the contract suite must notice, and the case that does. */
import type { Patch } from './mutants.ts'
import { mistake } from './rules/rule.ts'

const latecomers =
  'a request that arrives after the reversal of its key is told by an event, and can be undone'

export const contractMistakes: readonly { readonly patch: Patch; readonly noticed: string }[] = [
  {
    patch: mistake('index', 'moves: true, headers', 'headers'),
    noticed: 'a request that moves money is tagged before it is sent',
  },
  {
    patch: mistake(
      'index',
      "headers: { ...headersOf(context), 'idempotency-key': key },",
      'headers: headersOf(context),',
    ),
    noticed: 'one key has one effect, however often it is sent',
  },
  {
    patch: mistake('undo-judgement', 'isNothing: !isAuthorised &&', 'isNothing:'),
    noticed: latecomers,
  },
  {
    patch: mistake(
      'undo-told',
      'if (failure === undefined || !isRefused || !judgement.stands) return []',
      'if (failure === undefined) return []',
    ),
    noticed: latecomers,
  },
  {
    patch: mistake(
      'undo',
      "return { is: 'requested', refs: { reversal } }",
      "return { is: 'reversed' }",
    ),
    noticed: 'a reversal that the acquirer only took is requested, and is told as reversed',
  },
  {
    patch: mistake('answers', 'refusalReasonFor(code)', "'800.100.100'"),
    noticed: 'a decline of the acquirer is declined with its reason',
  },
  {
    patch: mistake('answers', '...(isOther ? { amount: said } : {})', ''),
    noticed: 'an approval for another amount or currency names it',
  },
  {
    patch: mistake('signature', 'return items.every(', 'return true || items.every('),
    noticed: 'a forged event is not proven',
  },
  {
    patch: mistake('signature', 'return items.every(', 'return items.length > 0 || items.every('),
    noticed: 'an event for another account is not proven',
  },
  {
    patch: mistake(
      'requests',
      'merchantOrderReference: merchantTransactionId,',
      "merchantOrderReference: merchantTransactionId?.replaceAll('&', ''),",
    ),
    noticed: 'texts arrive as they were sent, whatever characters they have',
  },
  {
    patch: mistake(
      'requests',
      "'scheme', number, expiryMonth",
      "'scheme', checkoutAttemptId: btoa(String(number.reveal())), number, expiryMonth",
    ),
    noticed: 'card data is sent where a transcript can omit it',
  },
  {
    patch: mistake(
      'answers',
      'return { ok: false, why: `Adyen refused',
      'return { ok: true, why: `Adyen refused',
    ),
    noticed: 'check distinguishes right credentials from wrong ones',
  },
]
