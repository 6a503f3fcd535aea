/** Wallets with one mistake each, which the contract must find. */
import { randomUUID } from 'node:crypto'
import type { OpenedToken, RefusedToken, Wallet, WalletContext } from '@tollgate/plugin-kit'
import { Sensitive } from '@tollgate/plugin-kit'
import type { WalletSandbox } from '@tollgate/plugin-kit/testing'
import { applePay } from '../../../connectors/apple-pay/index.ts'
import { createSandbox as createApple } from '../../../connectors/apple-pay/sandbox/sandbox.ts'
import { googlePay } from '../../../connectors/google-pay/index.ts'
import { createSandbox as createGoogle } from '../../../connectors/google-pay/sandbox/sandbox.ts'
import { samsungPay } from '../../../connectors/samsung-pay/index.ts'
import { createSandbox as createSamsung } from '../../../connectors/samsung-pay/sandbox/sandbox.ts'

export type WrongWallet = {
  readonly mistake: string
  readonly wallet: Wallet
  readonly sandbox: WalletSandbox
  /** The name of a case that must fail. */
  readonly found: string
}

type Answer = OpenedToken | RefusedToken

/** The wallet with another way to open. */
const opening = (
  wallet: Wallet,
  open: (token: string, context: WalletContext, right: Wallet['open']) => unknown,
): Wallet => ({
  ...wallet,
  open: (token, context) => open(token, context, wallet.open) as Answer,
})

/** The wallet whose good answers are changed. */
const saying = (wallet: Wallet, change: (card: OpenedToken) => object): Wallet =>
  opening(wallet, (token, context, right) => {
    const answer = right(token, context)
    return answer.is === 'opened' ? change(answer) : answer
  })

/** A wallet that finds a fault and pays all the same. */
const overlooking = (wallet: Wallet, ...classes: readonly RefusedToken['class'][]): Wallet =>
  opening(wallet, (token, context, right) => {
    const answer = right(token, context)
    return answer.is === 'refused' && classes.includes(answer.class) ? anyCard(context) : answer
  })

const anyCard = ({ now }: WalletContext): OpenedToken => ({
  is: 'opened',
  number: new Sensitive('4200000000000000'),
  numberType: 'DPAN',
  expiryMonth: '05',
  expiryYear: '2034',
  cryptogram: new Sensitive('AgAAAAAABk4DWZ4C28yUQAAAAAA='),
  replayId: randomUUID(),
  replayUntil: new Date(now().getTime() + 1000),
  authMethod: 'guess',
})

const wallets = {
  google: { wallet: googlePay, sandbox: createGoogle() },
  apple: { wallet: applePay, sandbox: createApple() },
  samsung: { wallet: samsungPay, sandbox: createSamsung() },
}
type Name = keyof typeof wallets

const wrong = (
  mistake: string,
  name: Name,
  change: (wallet: Wallet, sandbox: WalletSandbox) => Wallet,
  found: string,
): WrongWallet => {
  const { wallet, sandbox } = wallets[name]
  return { mistake: `${name}: ${mistake}`, wallet: change(wallet, sandbox), sandbox, found }
}

const each = (
  mistake: string,
  change: (wallet: Wallet, sandbox: WalletSandbox) => Wallet,
  found: string,
): WrongWallet[] =>
  (Object.keys(wallets) as Name[]).map((name) => wrong(mistake, name, change, found))

/** An Apple Pay token whose border is back in its place, and its transaction id as it came. */
function withoutBorder(token: string): { readonly id: string; readonly text: string } {
  try {
    const read = JSON.parse(token) as { header: Record<string, string> }
    const { transactionId: id = '', applicationData = '', ...header } = read.header
    const transactionId = id + applicationData
    return { id, text: JSON.stringify({ ...read, header: { ...header, transactionId } }) }
  } catch {
    return { id: token, text: token }
  }
}

const good = 'a good token gives the card that is in it, and nothing else'
const amount = 'the amount and the currency are those of the token'
const rotation = 'a token under the last key opens during a rotation, and no longer after it'
const replayId =
  'a token has the same replay id whenever it is opened, and another token has another'
const replayUntil = 'a token opens until replayUntil, and is refused from then on'
const leaks = 'number, cryptogram and keys are in no answer and in nothing that is written'
const respelled = 'a token in another spelling is refused, or has the same replay id'
const altered = 'a token that was altered anywhere is refused, or is the same token'

export const wrongWallets: readonly WrongWallet[] = [
  ...each(
    'its name is no name',
    (wallet) => ({ ...wallet, name: 'My Wallet' }),
    'the wallet has a name, a field of the API, and the version of this contract',
  ),
  ...each(
    'ends are not compared with the given time',
    (wallet) =>
      opening(wallet, (token, context, right) =>
        right(token, { ...context, now: () => new Date(Date.UTC(2031, 4, 6, 7, 8, 9)) }),
      ),
    replayUntil,
  ),
  ...each(
    'the clock is that of the machine',
    (wallet) =>
      opening(wallet, (token, context, right) =>
        right(token, { ...context, now: () => new Date() }),
      ),
    replayUntil,
  ),
  ...each(
    'old tokens are taken',
    (wallet) => overlooking(wallet, 'expired', 'stale'),
    'an old token is refused',
  ),
  ...each(
    'a wrong tag is overlooked',
    (wallet) => overlooking(wallet, 'decryption'),
    'a token whose tag does not fit is refused',
  ),
  ...each(
    'a cut tag is overlooked',
    (wallet) => overlooking(wallet, 'decryption'),
    'a token whose tag is cut is refused',
  ),
  ...each(
    'a text without a card pays',
    (wallet) => overlooking(wallet, 'content'),
    'a token without a card is refused',
  ),
  ...each(
    'a text that is no token pays',
    (wallet) => overlooking(wallet, 'malformed'),
    'any text is answered',
  ),
  ...each(
    'it throws for what it cannot read',
    (wallet) =>
      opening(wallet, (token, context, right) => {
        const answer = right(token, context)
        if (answer.is === 'refused' && answer.class === 'malformed') throw new Error('malformed')
        return answer
      }),
    'any text is answered',
  ),
  ...each(
    'an altered token is another card',
    (wallet) => overlooking(wallet, 'malformed', 'signature', 'chain', 'decryption'),
    altered,
  ),
  ...each(
    'only the first key is tried',
    (wallet) =>
      opening(wallet, (token, context, right) =>
        right(token, { ...context, keys: context.keys.slice(0, 1) }),
      ),
    rotation,
  ),
  ...each(
    'keys are kept after a rotation',
    (wallet) => {
      const kept = new Set<string>()
      return opening(wallet, (token, context, right) => {
        for (const key of context.keys) kept.add(key.reveal())
        return right(token, { ...context, keys: [...kept].map((key) => new Sensitive(key)) })
      })
    },
    rotation,
  ),
  ...each(
    'the replay id is new each time',
    (wallet) => saying(wallet, (card) => ({ ...card, replayId: randomUUID() })),
    replayId,
  ),
  ...each(
    'all tokens have one replay id',
    (wallet) => saying(wallet, (card) => ({ ...card, replayId: 'token' })),
    replayId,
  ),
  ...each(
    'the replay id is that of the text',
    (wallet) =>
      opening(wallet, (token, context, right) => {
        const answer = right(token, context)
        return answer.is === 'opened' ? { ...answer, replayId: token } : answer
      }),
    respelled,
  ),
  wrong(
    'the replay id is a part whose border is not signed',
    'apple',
    (wallet) =>
      opening(wallet, (token, context, right) => {
        const { id, text } = withoutBorder(token)
        const answer = right(text, context)
        return answer.is === 'opened' ? { ...answer, replayId: id } : answer
      }),
    respelled,
  ),
  ...each(
    'a replay is forgotten before the token ends',
    (wallet) =>
      saying(wallet, (card) => ({
        ...card,
        replayUntil: new Date(card.replayUntil.getTime() - 1000),
      })),
    replayUntil,
  ),
  ...each(
    'the number is in clear',
    (wallet) => saying(wallet, (card) => ({ ...card, number: card.number.reveal() })),
    leaks,
  ),
  ...each(
    'the last answer is written to the log',
    (wallet) =>
      saying(wallet, (card) => {
        process.stderr.write(`opened ${card.number.reveal()}\n`)
        return card
      }),
    leaks,
  ),
  ...each(
    'a refusal quotes a key',
    (wallet) =>
      opening(wallet, (token, context, right) => {
        const answer = right(token, context)
        return answer.is === 'refused' ? { ...answer, why: context.keys[0]!.reveal() } : answer
      }),
    leaks,
  ),
  ...each(
    'the year has two digits',
    (wallet) => saying(wallet, (card) => ({ ...card, expiryYear: card.expiryYear.slice(2) })),
    good,
  ),
  ...each('the ECI is left out', (wallet) => saying(wallet, ({ eci: _, ...card }) => card), good),
  ...each(
    'the ECI has one digit',
    (wallet) =>
      saying(wallet, (card) => ({
        ...card,
        ...(card.eci !== undefined && { eci: card.eci.slice(1) }),
      })),
    good,
  ),
  ...each(
    'the cryptogram is left out',
    (wallet) => saying(wallet, ({ cryptogram: _, ...card }) => card),
    good,
  ),
  wrong(
    'a card number counts as a device number',
    'google',
    (wallet) => saying(wallet, (card) => ({ ...card, numberType: 'DPAN' })),
    good,
  ),
  wrong(
    'the amount is left out',
    'apple',
    (wallet) => saying(wallet, ({ amount: _, ...card }) => card),
    amount,
  ),
  wrong(
    'the amount is left out',
    'samsung',
    (wallet) => saying(wallet, ({ amount: _, ...card }) => card),
    amount,
  ),
  wrong(
    'the currency is always EUR',
    'samsung',
    (wallet) =>
      saying(wallet, (card) => ({ ...card, amount: { ...card.amount!, currency: 'EUR' } })),
    amount,
  ),
  wrong(
    'the amount is always that of the first token',
    'apple',
    (wallet) => saying(wallet, (card) => ({ ...card, amount: { ...card.amount!, minor: 9200n } })),
    amount,
  ),
  ...(['google', 'apple'] as const).flatMap((name) => [
    wrong(
      'authorities in the token are trusted',
      name,
      (wallet, { foreignRoots }) =>
        opening(wallet, (token, context, right) =>
          right(token, { ...context, roots: [...context.roots, ...foreignRoots] }),
        ),
      'a token that another authority signed is refused, although it is perfect otherwise',
    ),
    wrong(
      'live trusts the anchors of a test',
      name,
      (wallet, { roots }) => ({
        ...wallet,
        trust: { ...wallet.trust!, roots: () => ({ is: 'fixed' as const, anchors: roots }) },
      }),
      'live trusts no anchor of a test system',
    ),
    wrong(
      'no setting is named as one for tests',
      name,
      (wallet) => ({
        ...wallet,
        trust: { ...wallet.trust!, testSettings: [] },
      }),
      'live trusts no anchor of a test system',
    ),
  ]),
  ...(
    [
      ['every document is usable', () => true],
      ['its documents cannot be judged', undefined],
    ] as const
  ).map(([mistake, usable]) =>
    wrong(
      mistake,
      'google',
      (wallet) => {
        const { usable: _, ...trust } = wallet.trust!
        return { ...wallet, trust: usable === undefined ? trust : { ...trust, usable } }
      },
      'a fetched document without an anchor is not usable',
    ),
  ),
  wrong(
    'ECv1 is allowed by itself',
    'google',
    (wallet) =>
      opening(wallet, (token, context, right) =>
        right(token, { ...context, config: { ...context.config, allowECv1: true } }),
      ),
    'a token of a version or an algorithm that is not allowed is refused',
  ),
  wrong(
    'versions are not compared',
    'apple',
    (wallet) => overlooking(wallet, 'version'),
    'a token of a version or an algorithm that is not allowed is refused',
  ),
  wrong(
    'compression is taken',
    'samsung',
    (wallet) => overlooking(wallet, 'algorithm'),
    'a token of a version or an algorithm that is not allowed is refused',
  ),
  wrong(
    'the merchant in a token is not compared',
    'google',
    (wallet) => overlooking(wallet, 'recipient'),
    'a token for another merchant is refused',
  ),
  wrong(
    'the merchant of the key is not compared',
    'apple',
    (wallet) => overlooking(wallet, 'decryption'),
    'a token for another merchant is refused',
  ),
  wrong(
    'keys of others are taken',
    'apple',
    (wallet) => overlooking(wallet, 'recipient'),
    'a token for a key of somebody else is refused',
  ),
]
