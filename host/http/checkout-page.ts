/**
 * The hosted page of a checkout. It needs no script: each part is a form of its own, posted to the address of the
 * page, and every post is answered by a redirect: to the merchant, to the bank, or to this page again.
 */
import { type Gateway, GatewayError, newId } from '@tollgate/core'
import { brandOf, limits } from '@tollgate/schemas'
import { wishesIn } from '@tollgate/widget/texts/languages'
import type { Texts } from '@tollgate/widget/texts/types'
import type { Document } from './answer.ts'
import {
  deviceFrame,
  deviceLimitSeconds,
  devicePage,
  type Precondition,
} from './checkout-page-device.ts'
import {
  isOpenedByGet,
  leavingPage,
  messagePage,
  type Offer,
  type PageSetting,
  type Redirect,
  withParameters,
} from './checkout-page-document.ts'
import { fieldsOf, methodOf, submissionIn, type WrongField, wrongIn } from './checkout-page-form.ts'
import { formPage } from './checkout-page-methods.ts'
import { pressIn, withPress } from './checkout-page-press.ts'
import { frame, goTo, page, pageWithFrames } from './checkout-page-reply.ts'
import type { OwnCall, OwnOperation } from './own-operations.ts'
import { languageFor, textsOf } from './shopper-texts.ts'

type State = Awaited<ReturnType<Gateway['checkouts']['state']>>
type Submitted = Awaited<ReturnType<Gateway['checkouts']['submit']>>

export const checkoutPageOperations: Readonly<Record<string, OwnOperation>> = {
  'checkouts.page': show,
  'checkouts.payByPage': pay,
}

/** Query parameters that stay with the shopper. */
const lasting = ['locale', 'brands'] as const

/** The query of the page. Anybody may write one of any length: each known brand counts once. */
function askedIn(query: string): URLSearchParams {
  const asked = new URLSearchParams(query.slice(0, limits.checkoutPageQuery))
  const locale = asked.get('locale')
  if (locale !== null) asked.set('locale', locale.slice(0, longestLocale))
  const names = (asked.get('brands') ?? '').toUpperCase().split(/[\s,]+/)
  const known = new Set(names.filter((name) => brandOf(name)?.code === name))
  if (known.size === 0) asked.delete('brands')
  else asked.set('brands', [...known].join(' '))
  return asked
}

const longestLocale = 35

async function show(call: OwnCall): Promise<Document> {
  const { gateway, path, query } = call
  const asked = askedIn(query)
  const id = path.id ?? ''
  try {
    const [offer, state] = await Promise.all([
      gateway.checkouts.offer(id),
      gateway.checkouts.state(id, pressIn(call.request.headers.cookie)),
    ])
    const setting = await settingOf(call, asked, offer)
    return pageOf(call, asked, setting, { offer: withBrands(offer, asked), state })
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 404) throw error
    const setting = await settingOf(call, asked, undefined)
    return page(gateway, 404, messagePage(setting, setting.texts.messages.unknown))
  }
}

/**
 * The page to go on to: the checkout's own, or the one that was paid from, on an origin that the merchant
 * listed. Any other was named by a browser alone, and a link to this page would lead to it.
 */
function trusted(offer: Offer, resultUrl: string | undefined): string | undefined {
  if (resultUrl === undefined || offer.result) return resultUrl
  return offer.widgetOrigins?.includes(new URL(resultUrl).origin) === true ? resultUrl : undefined
}

/** Browsers follow a link to an app only when the shopper opens it. */
const isWeb = (address: string) => /^https?:/i.test(address)

/** The page for the state of the checkout. */
function pageOf(
  { gateway }: OwnCall,
  asked: URLSearchParams,
  setting: PageSetting,
  { offer, state }: { readonly offer: Offer; readonly state: State },
): Document {
  const { messages, page: words } = setting.texts
  const { redirect } = state
  const resultUrl = trusted(offer, state.resultUrl)
  const link = resultUrl === undefined ? {} : { link: { to: resultUrl, text: words.back } }
  switch (state.state) {
    case 'paid':
      if (resultUrl !== undefined && isWeb(resultUrl)) return goTo(gateway, resultUrl)
      return page(
        gateway,
        200,
        messagePage(setting, offer.kind === 'registration' ? messages.saved : messages.paid, {
          good: true,
          ...link,
        }),
      )
    case 'closed':
      return page(gateway, 200, messagePage(setting, messages.closed, link))
    case 'busy':
      if (asked.has('other')) break
      if (redirect !== undefined) return wayOut(gateway, asked, setting, redirect as Way)
      return page(
        gateway,
        200,
        messagePage(setting, messages.processing, {
          link: { to: addressOf(asked), text: words.checkAgain },
          ...(link.link === undefined ? {} : { shop: link.link }),
          other: addressOf(asked, { other: '1' }),
        }),
        ['Refresh', '5'],
      )
    case 'free':
  }
  const wrong = wrongIn(asked)
  const notice = noticeOf(asked, setting.texts)
  const action = addressOf(asked)
  return page(
    gateway,
    200,
    formPage(setting, {
      offer,
      nonce: newId(),
      action,
      method: asked.get('method') ?? '',
      wrong,
      isChosen: asked.has('brands'),
      ...(notice === undefined ? {} : { notice }),
    }),
  )
}

/** The redirect of a payment under way. */
type Way = Redirect & { readonly preconditions?: readonly Precondition[] }

/** First the steps of the bank in frames, then the bank's own page. */
function wayOut(
  gateway: Gateway,
  asked: URLSearchParams,
  setting: PageSetting,
  redirect: Way,
): Document {
  const { preconditions: steps = [] } = redirect
  const isReady = asked.get('device') === 'done' || steps.length === 0
  if (isReady && asked.has('device') && isOpenedByGet(redirect))
    return goTo(gateway, withParameters(redirect))
  if (isReady)
    return page(gateway, 200, leavingPage(setting, redirect, addressOf(asked, { other: '1' })))
  const onward = addressOf(asked, { device: 'done' })
  if (asked.get('device') === 'frame') return frame(gateway, deviceFrame(setting, steps, onward))
  const text = devicePage(setting, steps, { frame: addressOf(asked, { device: 'frame' }), onward })
  return pageWithFrames(gateway, text, { afterSeconds: deviceLimitSeconds, location: onward })
}

function noticeOf(asked: URLSearchParams, { messages }: Texts): string | undefined {
  const outcome = asked.get('outcome')
  if (outcome === 'declined') return messages.declined
  return outcome === 'trouble' ? messages.tryAgain : undefined
}

async function pay(call: OwnCall): Promise<Document> {
  const { gateway, path, query, request, requestId, address, readBody } = call
  const asked = askedIn(query)
  const body = await readBody(limits.checkoutPageBytes)
  const form = fieldsOf(body.toString('utf8'))
  const submission = submissionIn(form)
  const method = methodOf(form, await storedOf(gateway, path.id ?? '', form))
  if ('wrong' in submission) return again(gateway, asked, { method, wrong: submission.wrong })
  addBrowser(submission.fields, request.headers)
  const reply = await gateway.call('checkouts.pay', null, {
    path,
    body: Buffer.from(submission.fields.toString()),
    contentType: 'application/x-www-form-urlencoded',
    requestId,
    address,
    accept: request.headers.accept,
  })
  if (reply.status === 404) return again(gateway, asked, {})
  if (reply.status !== 200) return again(gateway, asked, { method, outcome: 'trouble' })
  const { resultUrl, ...rest } = reply.body as Submitted
  const to =
    resultUrl === undefined
      ? undefined
      : trusted(await gateway.checkouts.offer(path.id ?? ''), resultUrl)
  const next =
    to === undefined || !isWeb(to) ? onward(gateway, asked, method, rest) : goTo(gateway, to)
  return rest.state === 'waiting' ? withPress(gateway, next, form.get('nonce') ?? '') : next
}

/** The registrations on the page, where the form is of one. */
async function storedOf(
  gateway: Gateway,
  id: string,
  form: URLSearchParams,
): Promise<Offer['registrations']> {
  if (!form.has('registrationId')) return []
  try {
    return (await gateway.checkouts.offer(id)).registrations
  } catch (error) {
    if (error instanceof GatewayError && error.status === 404) return []
    throw error
  }
}

/** Facts about the browser that a bank asks for, as far as they are known without a script. */
function addBrowser(fields: URLSearchParams, headers: OwnCall['request']['headers']): void {
  const userAgent = headers['user-agent']?.slice(0, 2048)
  const [language] = wishesIn(headers['accept-language'] ?? '')
  if (userAgent !== undefined) fields.set('customer.browser.userAgent', userAgent)
  if (language !== undefined && /^[A-Za-z-]{1,8}$/.test(language)) {
    fields.set('customer.browser.language', language)
  }
}

function onward(
  gateway: Gateway,
  asked: URLSearchParams,
  method: string,
  { state, redirect, errors = [] }: Omit<Submitted, 'resultUrl'>,
): Document {
  const hasSteps = ((redirect as Way | undefined)?.preconditions ?? []).length > 0
  if (state === 'waiting' && redirect !== undefined && isOpenedByGet(redirect) && !hasSteps)
    return goTo(gateway, withParameters(redirect as Redirect))
  if (state === 'declined') return again(gateway, asked, { method, outcome: 'declined' })
  if (state !== 'invalid') return again(gateway, asked, {})
  // Nothing that the shopper could correct.
  if (errors.length === 0) return again(gateway, asked, { method, outcome: 'trouble' })
  return again(gateway, asked, { method, wrong: errors })
}

/** This page again: its address says what to correct, never what was typed. */
function again(
  gateway: Gateway,
  asked: URLSearchParams,
  {
    method,
    outcome,
    wrong = [],
  }: {
    readonly method?: string
    readonly outcome?: string
    readonly wrong?: readonly WrongField[]
  },
): Document {
  const more = {
    ...(method === undefined ? {} : { method }),
    ...(outcome === undefined ? {} : { outcome }),
  }
  return goTo(gateway, addressOf(asked, more, wrong))
}

/** Relative to the page itself, so that every name and prefix of a host works. */
function addressOf(
  asked: URLSearchParams,
  more: Readonly<Record<string, string>> = {},
  wrong: readonly WrongField[] = [],
): string {
  const query = new URLSearchParams()
  for (const name of lasting) {
    const value = asked.get(name)
    if (value !== null) query.set(name, value)
  }
  for (const [name, value] of Object.entries(more)) query.set(name, value)
  for (const { field, reason } of wrong) query.append('error', `${field}:${reason}`)
  return query.size === 0 ? 'page' : `page?${query}`
}

/** Only the brands that the address names, in its order. */
function withBrands(offer: Offer, asked: URLSearchParams): Offer {
  const names = asked.get('brands')?.split(' ')
  if (names === undefined) return offer
  const brands = names.flatMap((name) => offer.brands.filter(({ brand }) => brand === name))
  return { ...offer, brands }
}

async function settingOf(
  { gateway, request }: OwnCall,
  asked: URLSearchParams,
  offer: Offer | undefined,
): Promise<PageSetting> {
  const language = languageFor(request.headers, asked.get('locale') ?? undefined, offer?.locale)
  return {
    language,
    texts: await textsOf(language),
    test: gateway.environment === 'test',
    kind: offer?.kind ?? 'payment',
    inLanguage: (code) => addressOf(asked, { locale: code }),
  }
}
