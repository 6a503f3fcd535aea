/** The issuer's pages: the challenge, and the step before it that looks at the browser. */
import type { PageReply, PageVisit } from '@tollgate/plugin-kit'
import {
  type Case,
  cancel,
  enterCode,
  mostWrongCodes,
  resendCode,
  seeDevice,
  whenClosed,
} from '../authentication/case.ts'
import { codes } from '../authentication/enrolment.ts'
import { factsOf, html, missingPage, pageOf, sentencePage } from './document.ts'
import { amountIn, type Language, languageFor } from './language.ts'
import { filled, type Texts } from './texts.ts'
import { type PageKind, tokenOf, visitOf } from './token.ts'

/** The case that a page is about. */
export type CaseVisit = { readonly merchantId: string; readonly key: string }

/** The stored cases of a transport. */
export type Cases = {
  find(visit: CaseVisit): Promise<Case | undefined>
  /** Stores the changed case; changes the newest one again when another was stored meanwhile. */
  change(visit: CaseVisit, change: (found: Case) => Case): Promise<Case | undefined>
}

/** The kinds of pages that this file serves. */
const kinds: readonly PageKind[] = ['challenge', 'device']

/** Addresses of the pages of one case, below the address of all pages. */
export const pageUrlsOf = (base: string, visit: CaseVisit, secret: string) => ({
  challenge: `${base}/challenge/${tokenOf('challenge', visit, secret)}`,
  device: `${base}/device/${tokenOf('device', visit, secret)}`,
})

/** The reply to a visit below `/challenge/` and `/device/`; undefined for another path. */
export async function visitIssuer(
  visit: PageVisit,
  cases: Cases,
  secret: string,
  machineNow: number,
): Promise<PageReply | undefined> {
  const [, kind = '', token = '', ...more] = visit.path.split('/')
  if (!kinds.includes(kind as PageKind)) return undefined
  const about = visitOf<CaseVisit>(kind as PageKind, token, secret)
  const known = about === undefined || more.length > 0 ? undefined : await cases.find(about)
  const found = known && whenClosed(known, machineNow)
  const language = languageFor([visit.query.lang, found?.language, visit.acceptLanguage])
  if (about === undefined || found === undefined) return missingPage(language)
  if (kind === 'device') {
    await cases.change(about, seeDevice)
    return sentencePage(language, { title: language.texts.done, text: language.texts.close })
  }
  if (visit.method === 'GET') return pageFor(found, language)
  const change = changeBy(visit.form)
  const changed =
    (await cases.change(about, (newest) => change(whenClosed(newest, machineNow)))) ?? found
  const isDone = changed.status !== undefined && changed.returnUrl !== undefined
  // A reload of the next page must not send the form again.
  return { status: 303, location: isDone ? changed.returnUrl! : `./${token}${languageOf(visit)}` }
}

const languageOf = ({ query }: PageVisit): string =>
  query.lang === undefined ? '' : `?lang=${encodeURIComponent(query.lang)}`

/** The buttons of the page are one form; its first button is also the Enter key. */
function changeBy(form: PageVisit['form']): (found: Case) => Case {
  if (form.do === 'cancel') return cancel
  if (form.do === 'resend') return resendCode
  return (found) => enterCode(found, form.code ?? '')
}

function pageFor(found: Case, language: Language): PageReply {
  const { texts } = language
  if (found.status === undefined) return question(found, language)
  const isOver = found.status === 'timedOut'
  return sentencePage(language, {
    title: isOver ? texts.over : texts.done,
    text: texts.close,
    back: found.returnUrl,
  })
}

function question(found: Case, language: Language): PageReply {
  const { texts } = language
  const title = found.isPayment ? texts.title : texts.titleOfCard
  const facts = factsOf([
    [texts.merchant, found.shop ?? texts.someShop],
    ...(found.isPayment
      ? ([[texts.amount, amountIn(language, found.amount), 'amount']] as const)
      : []),
    [texts.card, `•••• ${found.last4}`],
  ])
  const isWrong = found.note === 'wrong' || found.note === 'empty'
  const said = noteOf(found, texts)
  const note =
    said === undefined
      ? undefined
      : html`<p class="note ${isWrong ? 'bad' : 'good'}" id="note" role="${isWrong ? 'alert' : 'status'}">${said}</p>`
  const marks = isWrong
    ? html` aria-invalid="true" aria-describedby="note hint"`
    : html` aria-describedby="hint"`
  const field = html`<label for="code">${texts.code}</label><input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="12" autocapitalize="off" spellcheck="false"${marks}><p class="hint" id="hint">${hintOf(texts)}</p>`
  const buttons = html`<button name="do" value="confirm">${texts.confirm}</button><div class="others"><button class="plain" name="do" value="resend">${texts.resend}</button><button class="plain" name="do" value="cancel">${texts.cancel}</button></div>`
  const form = html`<form method="post" novalidate>${note}${field}${buttons}</form>`
  const content = html`<p>${texts.intro}</p>${facts}${form}${helpOf(texts)}`
  return pageOf(language, { title, content })
}

function noteOf({ note, wrongCodes }: Case, texts: Texts): string | undefined {
  if (note === 'wrong') return filled(texts.wrong, { count: mostWrongCodes - wrongCodes })
  if (note === 'empty') return texts.empty
  return note === 'resent' ? texts.resent : undefined
}

/** The sentence around the code, which keeps its own direction. */
function hintOf(texts: Texts) {
  const [before = '', after = ''] = texts.hint.split('{code}')
  return html`${before}<bdi>${codes[0]?.[0]}</bdi>${after}`
}

/** Every test code with its answer, from the same table that decides. */
function helpOf(texts: Texts) {
  const answers = {
    Y: texts.confirmed,
    A: texts.attempted,
    N: texts.refused,
    R: texts.rejected,
    U: texts.unavailable,
  }
  const rows = codes.map(
    ([code, status]) => html`<li><bdi>${code}</bdi><span>${answers[status]}</span></li>`,
  )
  return html`<details><summary>${texts.help}</summary><p>${texts.helpText}</p><ul>${rows}</ul></details>`
}
