import type { FieldState, FromFrame } from '../protocol.ts'
import { callbackTarget } from './callback-target.ts'
import { type Context, openFrame } from './context.ts'
import { element } from './dom.ts'
import type { Frame } from './frame.ts'
import { frameStyle } from './frame-style.ts'
import { createGroup, type Group } from './messages.ts'
import { call } from './options.ts'

/** A group whose field lives in a frame. */
export type FrameGroup = Group & {
  readonly frame: Frame
  readonly restyle: () => void
  /** Asks the field, and shows what is wrong with it. */
  readonly check: () => Promise<boolean>
}

type Choice = {
  readonly name: 'number' | 'cvv'
  readonly group: 'cardNumber' | 'cvv'
  readonly label: string
  readonly accepted: readonly string[]
  readonly mayBeEmpty: boolean
  readonly messageOf: (state: FieldState) => string
  readonly listen: (word: FromFrame) => void
  readonly onEnter: () => void
}

/** @param model An ordinary field of the form, whose look the frame takes over. */
export function createFrameGroup(context: Context, choice: Choice, model: HTMLElement): FrameGroup {
  const { options, language, signal } = context
  const blurred = choice.name === 'number' ? options.onBlurCardNumber : options.onBlurSecurityCode
  const listen = (word: FromFrame) => {
    if (word.is === 'ready') setUp()
    if (word.is === 'focus') {
      frame.element.classList.add('wpwl-control-iframe-focus')
      call(options.onFocusIframe, callbackTarget(frame.element), frame.element)
    }
    if (word.is === 'blur') {
      frame.element.classList.remove('wpwl-control-iframe-focus')
      if (word.state !== 'empty') show(word.state)
      call(blurred, callbackTarget(frame.element), word.state === 'valid')
    }
    // A message goes once the field is right, not at the first key.
    if (word.is === 'typed' && word.state === 'valid') group.setError('')
    if (word.is === 'enter' && options.disableSubmitOnEnter !== true) choice.onEnter()
    choice.listen(word)
  }
  const frame = openFrame(
    context,
    choice.name,
    {
      class: `wpwl-control wpwl-control-iframe wpwl-control-${choice.group}`,
      title: choice.label,
      scrolling: 'no',
      // For pages without styles of ours.
      width: '100%',
      height: '48',
      frameborder: '0',
    },
    listen,
  )
  const show = (state: FieldState) => group.setError(choice.messageOf(state))
  const group = createGroup(choice.group, choice.label, frame.element, {
    showLabel: options.showLabels !== false,
    focus: () => {
      frame.element.focus()
      frame.say({ do: 'focus' })
    },
    onError: (text) => frame.say({ do: 'fault', text }),
  })
  const restyle = () => frame.say(frameStyle(model, placeholderNames[choice.name], context))
  // No text of ours helps in these fields; pages may have one.
  const placeholder = options.labels?.[`${choice.group}Placeholder`] ?? ''
  const setUp = () => {
    restyle()
    frame.say({
      do: 'field',
      label: choice.label,
      placeholder: options.showPlaceholders === false ? '' : placeholder,
      language: language.tag,
      messages: {},
      accepted: choice.accepted,
      priority: options.brandDetectionPriority ?? [],
      formatting: options.numberFormatting !== false,
      masked: options.maskCvv === true,
      mayBeEmpty: choice.mayBeEmpty,
    })
  }
  // Light and dark may change while the form is open.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle, { signal })
  return Object.assign(group, {
    frame,
    restyle,
    check: async () => {
      const state = await frame.check()
      show(state)
      return state === 'valid'
    },
  })
}

const placeholderNames = { number: 'card-number-placeholder', cvv: 'cvv-placeholder' } as const

/** Help beside the security code. */
export function cvvHint(group: Group, text: string): HTMLElement {
  const hint = element('div', { class: 'wpwl-hint-cvv' }, text)
  group.element.append(hint)
  return hint
}
