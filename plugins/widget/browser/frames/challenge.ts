/**
 * The frame around the bank's page. It opens the bank's page in a frame of its own, waits for the
 * return page, and asks the gateway how the payment stands.
 */
import './base-style.ts'
import { element } from '../page/dom.ts'
import type { CheckoutState, Precondition, Redirect, ToFrame } from '../protocol.ts'
import { awaitPage, type PagePort } from './page-port.ts'
import { readState } from './submission.ts'

const pollMs = 3_000
const deviceLimitMs = 10_000
const slowAfterMs = 8_000

let page: PagePort | undefined
let press: string | undefined
let isOver = false
let isAsking = false
let counter = 0

/** Opens an address in a frame below, by GET or by POST. */
function openIn(frame: HTMLIFrameElement, redirect: Redirect, target: string): void {
  const form = element('form', {
    action: redirect.url,
    method: redirect.method ?? 'GET',
    target,
    class: 'hidden',
  })
  for (const { name, value } of redirect.parameters ?? []) {
    form.append(element('input', { type: 'hidden', name, value }))
  }
  if ((redirect.method ?? 'GET').toUpperCase() === 'GET' && form.elements.length === 0) {
    frame.src = redirect.url
    return
  }
  document.body.append(form)
  // A field of the bank may be named like the method.
  HTMLFormElement.prototype.submit.call(form)
  form.remove()
}

function frameBelow(attributes: Record<string, string>): [HTMLIFrameElement, string] {
  const name = `tollgate-${++counter}`
  const frame = element('iframe', { name, allow: 'publickey-credentials-get *', ...attributes })
  return [frame, name]
}

/** The steps before a redirect, such as the look at the device: ten seconds at most, all at once. */
function prepare(steps: readonly Precondition[]): Promise<unknown> {
  const all = steps.map(
    (step) =>
      new Promise<void>((resolve) => {
        const [frame, name] = frameBelow({ class: 'hidden', title: '', 'aria-hidden': 'true' })
        frame.tabIndex = -1
        document.body.append(frame)
        const done = () => resolve()
        if ((step.waitUntil ?? 'iframe#onload') === 'iframe#onload') {
          // An empty frame fires once when it is added; the answer of the step is another document.
          frame.addEventListener('load', done)
        } else {
          addEventListener('message', (event) => {
            if (event.source === frame.contentWindow) done()
          })
        }
        openIn(frame, step, name)
      }),
  )
  const limit = new Promise((resolve) => setTimeout(resolve, deviceLimitMs))
  return Promise.race([Promise.all(all), limit])
}

async function ask(): Promise<void> {
  if (isOver || isAsking) return
  isAsking = true
  const state = await readState(press)
  isAsking = false
  if (state === null || isOver) return
  const { redirect, inFrame } = state
  // After the authentication, the acquirer may have a page of its own, which needs the whole tab.
  const isNext = redirect !== undefined && inFrame !== true
  if (state.state === 'busy' && state.awaited !== true && !isNext) return
  isOver = true
  page?.say({ is: 'state', state })
}

async function start(word: Extract<ToFrame, { do: 'challenge' }>): Promise<void> {
  press = word.press
  document.documentElement.lang = word.language
  document.title = word.texts.title
  const status = element('p', { id: 'status', role: 'status' })
  status.textContent = word.texts.loading
  const main = document.querySelector('#root')!
  main.append(status)
  const state = await awaitRedirect()
  if (state === null) return page?.say({ is: 'lost' })
  const { redirect } = state
  if (redirect === undefined) {
    isOver = true
    return page?.say({ is: 'state', state })
  }
  await prepare(redirect.preconditions ?? [])
  if (!word.follow) return page?.say({ is: 'leave', redirect })
  openBank(word, redirect, main, status)
}

/** The redirect under way, straight from the gateway: the page around has no hand in it. */
async function awaitRedirect(): Promise<CheckoutState | null> {
  for (let round = 0; round < 5; round++) {
    const state = await readState(press)
    if (state !== null) {
      if (state.redirect !== undefined || state.state !== 'busy' || state.awaited) return state
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return null
}

function openBank(
  { texts }: Extract<ToFrame, { do: 'challenge' }>,
  redirect: Redirect,
  main: Element,
  status: HTMLElement,
): void {
  const [bank, name] = frameBelow({ title: texts.title, class: 'bank' })
  const slow = element('p', { class: 'slow', hidden: '' })
  const leave = element('button', { type: 'button' })
  leave.textContent = texts.tab
  leave.addEventListener('click', () => page?.say({ is: 'leave', redirect }))
  slow.append(`${texts.slow} `, leave)
  const slowTimer = setTimeout(() => {
    slow.hidden = false
  }, slowAfterMs)
  main.append(bank, slow)
  bank.addEventListener('load', () => {
    clearTimeout(slowTimer)
    slow.hidden = true
    status.hidden = true
    bank.focus()
  })
  addEventListener('message', (event) => {
    if (event.source !== bank.contentWindow || event.origin !== location.origin) return
    const said = event.data as { tollgate?: unknown } | null
    if (said?.tollgate !== 'returned') return
    status.textContent = texts.returned
    status.hidden = false
    bank.classList.add('hidden')
    void ask()
  })
  openIn(bank, redirect, name)
  page?.say({ is: 'open' })
  setInterval(() => void ask(), pollMs)
}

awaitPage(
  (port) => {
    page = port
  },
  (word) => {
    if (word.do === 'challenge') void start(word)
  },
)
