/** Mistakes that the engine might make with the checkouts of shoppers. */
import type { Mutant } from './mutants.ts'

const seconds = 12
const shoppers = 8

export const shopperMutants: readonly Mutant[] = [
  {
    assertion: 'a checkout is paid once',
    mistake: 'the slot of a checkout is taken whoever has it',
    patches: [
      {
        of: 'tryOnce',
        find: "(await stateOf(engine, now)) !== 'free'",
        put: 'false',
      },
      {
        of: 'useOf',
        find: 'previous?.id ?? checkout.paymentId',
        put: 'null',
      },
      {
        of: 'taken',
        in: 'payment/store-in-checkout.ts',
        find: 'when given.slot_previous is null then earlier else earlier || given.slot_previous end',
        put: 'when checkout.payment_id is null then earlier else earlier || checkout.payment_id end',
      },
      {
        of: 'taken',
        in: 'payment/store-in-checkout.ts',
        find: 'and checkout.payment_id is not distinct from given.slot_previous',
        put: '',
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'a press of the pay button makes one payment',
    mistake: 'a press that comes again begins another payment',
    patches: [
      {
        of: 'madeBy',
        in: 'checkout/submission.ts',
        find: 'if (!nonces.includes(nonce) || id == null) return undefined',
        put: "if (nonces.includes(nonce) || id == null || id !== '') return undefined",
      },
      {
        of: 'idempotencyOfTry',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's own text.
        find: 'isSecond ? `${nonce} again` : nonce',
        put: 'nonce + String(isSecond) + Math.random()',
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'shoppers are told paid only where money is',
    mistake: 'a payment under way is told as paid',
    patches: [
      {
        of: 'replyAbout',
        in: 'checkout/reply.ts',
        find: "{ state: 'waiting', ...redirectOf(payment) }",
        put: "{ state: 'paid' }",
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'a press that was told declined is not approved',
    mistake: 'a payment under way is told as declined',
    patches: [
      {
        of: 'replyAbout',
        in: 'checkout/reply.ts',
        find: "{ state: 'waiting', ...redirectOf(payment) }",
        put: "{ state: 'declined', attemptsLeft: 5, ...redirectOf(payment) }",
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'no checkout stays busy',
    mistake: 'every earlier try counts as one that holds money',
    patches: [
      {
        of: 'withPayment',
        find: 'late.length > 0',
        put: 'late.length > 0 || checkout.earlier.length > 0',
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'every press is answered and decided',
    mistake: 'a press that comes again is refused',
    patches: [
      {
        of: 'ended',
        in: 'checkout/submission.ts',
        find: 'let payment = begun',
        put: "if (begun.id !== '') throw new Error('again')\n  let payment = begun",
      },
    ],
    injections: [
      { is: 'kill', host: 'api', at: 'after-T1', nth: 3 },
      { is: 'kill', host: 'all', at: 'before-send', nth: 3 },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'the page of a shop is called as documented',
    mistake: 'a result that was read is called about all the same',
    patches: [
      {
        of: 'readResult',
        find: "removeTimer('callback', payment.id)",
        put: "removeTimer('callback', 'nobody')",
      },
    ],
    shoppers,
    seconds,
  },
  {
    assertion: 'no table holds a security code',
    mistake: 'the code of a card is stored with the request',
    patches: [
      {
        of: 'without',
        in: 'payment/stored-request.ts',
        find: 'if (!names.has(name))',
        put: "if (!names.has(name) || name === 'cvv')",
      },
    ],
    shoppers,
    seconds,
  },
]
