import type { CheckoutState, FromFrame, Redirect, Reply, Submission } from '../protocol.ts'
import { type Ending, openChallenge, prepareRedirect } from './challenge-panel.ts'
import { renewTerms } from './checkout.ts'
import { browserFields, ownResult, resultAddress, resultOf } from './collect.ts'
import { type Context, reportError } from './context.ts'
import type { Frame } from './frame.ts'
import { follow, goToResult } from './leave.ts'
import type { Group, Notices } from './messages.ts'
import { call } from './options.ts'
import { fieldMessage } from './refusals.ts'
import { relabel, shownBy } from './shell.ts'

const sentLimitMs = 8_000
/** After this, a text beside the spinner says that the payment is under way. */
const silentMs = 3_000

/** One way to pay: a form with its button. */
export type PayForm = {
  readonly container: HTMLElement
  readonly form: HTMLFormElement
  readonly button: HTMLButtonElement
  readonly notices: Notices
  /** Groups by the names of the fields that the gateway may refuse. */
  readonly groups: ReadonlyMap<string, Group>
  /** Shows what is wrong; the first wrong group, or null. */
  readonly check: () => Promise<Group | null>
  readonly fields: () => Record<string, string>
  /** The frame that sends this form. */
  readonly sender: () => Frame
  readonly withCvv: () => boolean
  /** The page's own checks. @throws Error about one that failed */
  readonly allowed: (event: Event) => Promise<boolean>
  /** Empties what must not be sent again. */
  readonly clear: () => void
  /** What the shopper was shown, where that was not the button. */
  readonly shown?: () => string
  /** The press was answered: a sheet of a wallet says so to the shopper. */
  readonly answered?: (isTaken: boolean) => void
}

/** Pays by the forms of one widget, one press at a time. */
export type Cashier = {
  readonly press: (form: PayForm, event: Event) => Promise<void>
  /** The words of the sending frames. */
  readonly hear: (word: FromFrame) => void
  /** Says at once when the checkout takes no payment any more, or when one is under way. */
  readonly open: (form: PayForm) => void
}

export function createCashier(context: Context): Cashier {
  const { language, options } = context
  const { messages } = language.texts
  let pressed: PayForm | null = null
  let opened: PayForm | null = null
  let last: PayForm | null = null
  /** The press whose payment is at the bank. */
  let atBank: string | undefined
  let sentTimer: ReturnType<typeof setTimeout> | undefined
  let silentTimer: ReturnType<typeof setTimeout> | undefined

  const rest = () => {
    if (pressed !== null) setBusy(pressed, false)
    pressed = null
    clearTimers()
  }
  const clearTimers = () => {
    clearTimeout(sentTimer)
    clearTimeout(silentTimer)
  }
  context.signal.addEventListener('abort', clearTimers, { once: true })

  const press = async (form: PayForm, event: Event) => {
    if (pressed !== null) return
    pressed = form
    last = form
    form.notices.clear()
    const wrong = await form.check()
    form.button.classList.toggle('wpwl-button-error', wrong !== null)
    if (wrong !== null) {
      rest()
      wrong.focus()
      form.notices.announce(messageOf(wrong))
      return
    }
    if (!(await mayGoOut(form, event))) {
      form.answered?.(false)
      return rest()
    }
    setBusy(form, true)
    form.notices.announce(messages.processing)
    tellSoon(form)
    sentTimer = setTimeout(() => {
      form.answered?.(false)
      rest()
      form.notices.tell(messages.tryAgain, 'error')
      reportError(
        context,
        'PciIframeSubmitError',
        'The frame that sends the payment did not answer',
      )
    }, sentLimitMs)
    form.sender().say(submissionOf(context, form))
  }

  /** A page's check that fails stops the payment: it may have been about to refuse. */
  const mayGoOut = async (form: PayForm, event: Event): Promise<boolean> => {
    try {
      return await form.allowed(event)
    } catch (thrown) {
      form.notices.tell(messages.tryAgain, 'error')
      reportError(context, 'WidgetError', (thrown as Error).message)
      return false
    }
  }

  const open = (form: PayForm) => {
    opened = form
    form.sender().ready.then(
      () => form.sender().say({ do: 'look' }),
      () => form.notices.tell(messages.tryAgain, 'error'),
    )
    // A page that the browser kept stands as it was left: it may have been on its way to another page.
    const comeBack = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return
      rest()
      form.notices.clear()
      form.form.classList.remove('wpwl-form-done')
      form.sender().say({ do: 'look' })
    }
    addEventListener('pageshow', comeBack, { signal: context.signal })
  }

  /** The shopper may have come back from the result page, or from elsewhere while the acquirer still works. */
  const looked = (form: PayForm, { state, awaited }: CheckoutState) => {
    if (state === 'paid' || state === 'closed') return finish(form, state, undefined)
    if (state !== 'busy' || awaited !== true || pressed !== null) return
    pressed = form
    setBusy(form, true)
    form.notices.tell(messages.processing, 'info')
    form.sender().say({ do: 'state' })
  }

  const hear = (word: FromFrame) => {
    if (word.is === 'looked') {
      if (opened !== null) looked(opened, word.state)
      return
    }
    // A reply counts also when it comes after the form gave up waiting.
    pressed ??= word.is === 'reply' ? last : null
    const form = pressed
    if (form === null) return
    switch (word.is) {
      case 'sent':
        clearTimeout(sentTimer)
        call(options.onAfterSubmit, window)
        return
      case 'reply':
        atBank = word.press
        return void answer(form, word.reply)
      case 'state': {
        const { state } = word
        const isAwaited = state.state === 'busy' && state.awaited === true
        if (isAwaited) return goOnWaiting(form, state.resultUrl ?? resultOf(context))
        return void stand(form, word)
      }
      case 'lost':
        form.answered?.(false)
        rest()
        return form.notices.tell(messages.connectionLost, 'error')
    }
  }

  const tellSoon = (form: PayForm) => {
    clearTimeout(silentTimer)
    silentTimer = setTimeout(() => form.notices.tell(messages.processing, 'info'), silentMs)
  }

  const answer = async (form: PayForm, reply: Reply) => {
    form.answered?.(reply.state === 'paid' || reply.state === 'waiting')
    if (reply.state === 'waiting') {
      if (reply.redirect === undefined) return form.sender().say({ do: 'state' })
      return stand(form, await act(form, reply, reply.redirect))
    }
    if (reply.state === 'busy') {
      clearTimeout(silentTimer)
      form.notices.tell(messages.busy, 'info')
      return form.sender().say({ do: 'state' })
    }
    if (reply.state === 'invalid') return refuse(form, reply)
    if (reply.state === 'changed') return renew(form)
    if (reply.state === 'declined' && reply.resultUrl === undefined) {
      rest()
      form.clear()
      form.notices.tell(messages.declined, 'error')
      // A payment from before this page was no press of this form.
      if (form === last) form.button.focus()
      return
    }
    finish(form, reply.state, reply.resultUrl ?? othersPaid(reply.state))
  }

  /** The merchant changed the amount since it was shown: nothing is paid before the shopper has seen the new one. */
  const renew = async (form: PayForm) => {
    const isNew = await renewTerms(context.place, context.checkout)
    if (isNew) relabel()
    rest()
    form.notices.tell(isNew ? messages.changed : messages.tryAgain, isNew ? 'info' : 'error')
    form.button.focus()
  }

  /** Takes the shopper to the bank: in a frame of the form, in a target of the page, or in this tab. */
  const act = async (form: PayForm, reply: Reply, redirect: Redirect): Promise<Ending> => {
    clearTimeout(silentTimer)
    if (reply.inFrame === true && !options.paymentTarget) {
      form.notices.announce(messages.challengeOpen)
      return openChallenge(context, form.container, atBank)
    }
    if ((redirect.preconditions ?? []).length > 0)
      return prepareRedirect(context, form.container, atBank)
    return { is: 'leave', redirect }
  }

  const stand = async (form: PayForm, ending: Ending): Promise<void> => {
    if (ending.is === 'leave') {
      form.notices.tell(messages.leaving, 'info')
      if (!follow(ending.redirect, options.paymentTarget || '_self')) {
        rest()
        form.notices.tell(messages.tryAgain, 'error')
      }
      return
    }
    if (ending.is !== 'state') {
      rest()
      if (ending.is === 'closed') form.notices.tell(messages.challengeClosed, 'info')
      else form.notices.tell(messages.connectionLost, 'error')
      return form.button.focus()
    }
    const { state, resultUrl, redirect, inFrame } = ending.state
    if (state === 'busy' && redirect !== undefined) {
      const reply: Reply = { state: 'waiting', redirect, inFrame: inFrame === true }
      return stand(form, await act(form, reply, redirect))
    }
    if (state === 'busy') {
      tellSoon(form)
      return form.sender().say({ do: 'state' })
    }
    if (state === 'free') return answer(form, { state: 'declined' })
    finish(form, state, resultUrl ?? othersPaid(state))
  }

  /** The sender has waited for the acquirer long enough: the result page takes over, which reads pending. */
  const goOnWaiting = (form: PayForm, resultUrl: string | undefined) => {
    if (resultUrl === undefined) form.sender().say({ do: 'state' })
    else finish(form, 'waiting', resultUrl)
  }

  const refuse = (form: PayForm, reply: Reply) => {
    rest()
    let first: Group | null = null
    for (const { field, reason } of reply.errors ?? []) {
      const group = form.groups.get(field)
      if (group === undefined) continue
      group.setError(fieldMessage(language.texts, field, reason))
      first ??= group
    }
    if (first === null) return form.notices.tell(messages.tryAgain, 'error')
    first.focus()
    form.notices.announce(messageOf(first))
  }

  const othersPaid = (state: Reply['state']) => (state === 'paid' ? ownResult(context) : undefined)

  const finish = (form: PayForm, state: Reply['state'], resultUrl: string | undefined) => {
    clearTimers()
    pressed = form
    form.clear()
    const done = context.checkout.kind === 'registration' ? messages.saved : messages.paid
    if (state === 'waiting') form.notices.tell(messages.processing, 'info')
    else if (state === 'paid') form.notices.tell(done, 'info')
    else form.notices.tell(messages.closed, 'error')
    // The form takes no further press: this checkout takes no further payment.
    form.form.setAttribute('aria-busy', 'false')
    form.form.classList.add('wpwl-form-done')
    if (resultUrl !== undefined) goToResult(context, resultUrl)
  }

  return { press, hear, open }
}

function submissionOf(context: Context, form: PayForm): Submission {
  const isInFrame = !context.options.paymentTarget && !crossOriginIsolated
  return {
    do: 'submit',
    kind: context.checkout.kind,
    fields: { ...browserFields(context), ...form.fields() },
    resultUrl: resultAddress(context),
    challenge: isInFrame ? 'frame' : 'tab',
    withCvv: form.withCvv(),
    shown: form.shown?.() ?? shownBy(context, form.button),
  }
}

function messageOf(group: Group): string {
  return group.element.querySelector('.wpwl-hint')?.textContent ?? ''
}

function setBusy({ button, form }: PayForm, isBusy: boolean): void {
  form.setAttribute('aria-busy', String(isBusy))
  form.classList.toggle('wpwl-form-busy', isBusy)
  // A disabled button would lose the focus; a busy one ignores presses.
  button.setAttribute('aria-disabled', String(isBusy))
}
