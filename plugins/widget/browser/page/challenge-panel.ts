import type { CheckoutState, Redirect } from '../protocol.ts'
import { type Context, openFrame, openHiddenFrame } from './context.ts'
import { element } from './dom.ts'
import { call } from './options.ts'

/** Sizes of the challenge window by its code; 5 is all the room there is. */
const sizes: Readonly<Record<string, readonly [string, string]>> = {
  '1': ['250px', '400px'],
  '2': ['390px', '400px'],
  '3': ['500px', '600px'],
  '4': ['600px', '400px'],
}

export type Ending =
  | { readonly is: 'state'; readonly state: CheckoutState }
  | { readonly is: 'leave'; readonly redirect: Redirect }
  | { readonly is: 'closed' }
  | { readonly is: 'lost' }

/** The bank's page, in a frame of ours in the form. Resolves when the shopper is done with it. */
export function openChallenge(
  context: Context,
  container: HTMLElement,
  press?: string,
): Promise<Ending> {
  const { language, options, signal } = context
  const { labels, messages } = language.texts
  const title = element('strong', { class: 'wpwl-challenge-title' }, messages.challengeTitle)
  const close = element(
    'button',
    { type: 'button', class: 'wpwl-button wpwl-button-close' },
    labels.close,
  )
  const panel = element('section', {
    class: 'wpwl-challenge',
    'aria-label': messages.challengeTitle,
    tabindex: '-1',
  })
  const before = document.activeElement
  return new Promise((resolve) => {
    const end = (ending: Ending) => {
      frame.remove()
      panel.remove()
      container.classList.remove('wpwl-has-challenge')
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      resolve(ending)
    }
    const frame = openFrame(
      context,
      'challenge',
      {
        class: 'wpwl-target',
        title: messages.challengeTitle,
        allow: 'publickey-credentials-get *',
      },
      (word) => {
        if (word.is === 'open') call(options.onLoadThreeDIframe, frame.element, frame.element)
        else if (word.is === 'state' || word.is === 'leave') end(word)
        else if (word.is === 'lost') end({ is: 'lost' })
      },
    )
    const [width, height] = sizeOf(context)
    frame.element.style.width = width
    frame.element.style.height = height
    close.addEventListener('click', () => end({ is: 'closed' }))
    panel.append(element('div', { class: 'wpwl-challenge-bar' }, title, close), frame.element)
    container.classList.add('wpwl-has-challenge')
    container.append(panel)
    panel.focus()
    panel.scrollIntoView({ block: 'nearest' })
    signal.addEventListener('abort', () => panel.remove(), { once: true })
    frame.say(challengeWord(context, true, press))
    frame.ready.catch(() => end({ is: 'lost' }))
  })
}

/** The steps before a redirect of the whole tab, in a frame that nobody sees. */
export function prepareRedirect(
  context: Context,
  container: HTMLElement,
  press?: string,
): Promise<Ending> {
  return new Promise((resolve) => {
    const end = (ending: Ending) => {
      frame.remove()
      resolve(ending)
    }
    const frame = openHiddenFrame(context, 'challenge', (word) => {
      if (word.is === 'state' || word.is === 'leave') end(word)
      else if (word.is === 'lost') end({ is: 'lost' })
    })
    container.append(frame.element)
    frame.say(challengeWord(context, false, press))
    frame.ready.catch(() => end({ is: 'lost' }))
  })
}

function challengeWord({ language }: Context, follow: boolean, press: string | undefined) {
  const { messages } = language.texts
  return {
    do: 'challenge',
    follow,
    ...(press === undefined ? {} : { press }),
    language: language.tag,
    texts: {
      title: messages.challengeTitle,
      loading: messages.challengeLoading,
      slow: messages.challengeSlow,
      tab: messages.challengeTab,
      returned: messages.challengeReturned,
    },
  } as const
}

function sizeOf({ options }: Context): readonly [string, string] {
  const { width, height } = options.threeDIframeSize ?? {}
  const known = sizes[String(options.browser?.threeDChallengeWindow ?? '')]
  const length = (wanted: string | undefined, otherwise: string) =>
    wanted !== undefined && /^[0-9.]{1,6}(?:px|%|em|rem|vh|vw)?$/.test(String(wanted))
      ? /[0-9.]$/.test(String(wanted))
        ? `${wanted}px`
        : wanted
      : otherwise
  return [length(width, known?.[0] ?? '100%'), length(height, known?.[1] ?? '620px')]
}
