/**
 * The words between the merchant's page and the frames. They travel over a port that the page hands
 * to each frame once. No word holds a card number or a security code, in either direction.
 */

export type FrameName = 'number' | 'cvv' | 'submit' | 'challenge'

/** The one message between windows: it carries the port. */
export type Handover = {
  readonly tollgate: 'port'
  /** The same for the frames of one form. */
  readonly nonce: string
}

export type FieldState = 'valid' | 'empty' | 'invalid' | 'notAccepted'

export type FieldSetup = {
  readonly do: 'field'
  readonly label: string
  readonly placeholder: string
  readonly language: string
  /** Messages by the states of the field. */
  readonly messages: Readonly<Record<string, string>>
  readonly accepted: readonly string[]
  readonly priority: readonly string[]
  readonly formatting: boolean
  readonly masked: boolean
  readonly mayBeEmpty: boolean
}

export type Style = {
  readonly do: 'style'
  readonly rules: Readonly<Record<string, string>>
  readonly placeholder: Readonly<Record<string, string>>
}

export type Submission = {
  readonly do: 'submit'
  readonly kind: 'payment' | 'registration'
  readonly fields: Readonly<Record<string, string>>
  readonly resultUrl: string
  readonly challenge: 'frame' | 'tab'
  /** What the button says, as the gateway names it; empty where it names no price. */
  readonly shown: string
  /** Whether the security code of the frame beside is part of it. */
  readonly withCvv: boolean
}

export type ToFrame =
  | FieldSetup
  | Style
  | Submission
  | { readonly do: 'focus' | 'check' | 'clear' | 'state' | 'look' }
  | { readonly do: 'cvvLengths'; readonly lengths: readonly number[] }
  | { readonly do: 'fault'; readonly text: string }
  | {
      readonly do: 'challenge'
      readonly texts: ChallengeTexts
      readonly language: string
      readonly follow: boolean
      /** The press whose payment is at the bank. */
      readonly press?: string
    }

export type ChallengeTexts = {
  readonly title: string
  readonly loading: string
  readonly slow: string
  readonly tab: string
  readonly returned: string
}

export type Redirect = {
  readonly url: string
  readonly method?: string
  readonly parameters?: readonly { readonly name: string; readonly value: string }[]
  readonly preconditions?: readonly Precondition[]
}

export type Precondition = Redirect & { readonly origin?: string; readonly waitUntil?: string }

/** The gateway's reply to a submission. */
export type Reply = {
  readonly state: 'paid' | 'declined' | 'waiting' | 'busy' | 'closed' | 'invalid' | 'changed'
  readonly resultUrl?: string
  readonly redirect?: Redirect
  readonly inFrame?: boolean
  readonly errors?: readonly { readonly field: string; readonly reason: string }[]
  readonly attemptsLeft?: number
}

export type CheckoutState = {
  readonly state: 'free' | 'busy' | 'paid' | 'closed'
  readonly resultUrl?: string
  readonly redirect?: Redirect
  readonly inFrame?: boolean
  /** Only the acquirer is awaited: nothing more is expected from the shopper. */
  readonly awaited?: boolean
}

export type FromFrame =
  | { readonly is: 'ready' | 'focus' | 'enter' | 'sent' | 'lost' }
  | { readonly is: 'blur'; readonly state: FieldState }
  | { readonly is: 'checked'; readonly state: FieldState }
  | {
      readonly is: 'typed'
      readonly state: FieldState
      readonly brands: readonly string[]
      /** Six first digits, once they are there. */
      readonly bin: string
    }
  | { readonly is: 'reply'; readonly reply: Reply; readonly press?: string }
  | { readonly is: 'state'; readonly state: CheckoutState }
  /** The state at the moment, asked for when a page opens. */
  | { readonly is: 'looked'; readonly state: CheckoutState }
  /** The bank's page is open, or the device was looked at and the tab may go on. */
  | { readonly is: 'open' }
  | { readonly is: 'leave'; readonly redirect: Redirect }
