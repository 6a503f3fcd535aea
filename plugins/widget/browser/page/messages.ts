import { element, hideFromView, show } from './dom.ts'

let counter = 0
export const freshId = (word: string) => `wpwl-${word}-${++counter}`

/** One group of a form: a label, a field and its message. */
export type Group = {
  readonly name: string
  readonly element: HTMLElement
  readonly wrapper: HTMLElement
  readonly label: HTMLElement
  /** The field in the page, or the frame that holds it. */
  readonly control: HTMLElement
  readonly focus: () => void
  /** Shows a message beside the field; an empty one ends it. */
  readonly setError: (text: string) => void
  readonly hasError: () => boolean
}

/** The button of a form without a wrong field is an ordinary one again. */
function settle(group: HTMLElement): void {
  const form = group.closest('form')
  if (form === null || form.querySelector('.wpwl-has-error') !== null) return
  form.querySelector('.wpwl-button-error')?.classList.remove('wpwl-button-error')
}

export function createGroup(
  name: string,
  labelText: string,
  control: HTMLElement,
  options: {
    readonly showLabel: boolean
    readonly onError?: (text: string) => void
    readonly focus?: () => void
  },
): Group {
  const isFrame = control.tagName === 'IFRAME'
  const focus = options.focus ?? (() => control.focus())
  const id = control.id === '' ? freshId(name) : control.id
  control.id = id
  const label = isFrame
    ? element('div', { class: `wpwl-label wpwl-label-${name}` }, labelText)
    : element('label', { class: `wpwl-label wpwl-label-${name}`, for: id }, labelText)
  if (isFrame) {
    // The field in the frame has a label of its own; this one is for eyes and pointers.
    label.setAttribute('aria-hidden', 'true')
    label.addEventListener('click', focus)
  }
  if (!options.showLabel) hideFromView(label)
  const hintId = `${id}-error`
  const wrapper = element('div', { class: `wpwl-wrapper wpwl-wrapper-${name}` }, control)
  const group = element(
    'div',
    { class: `wpwl-group wpwl-group-${name} wpwl-clearfix` },
    label,
    wrapper,
  )
  let hint: HTMLElement | null = null
  return {
    name,
    element: group,
    wrapper,
    label,
    control,
    focus,
    hasError: () => hint !== null,
    setError: (text) => {
      control.classList.toggle('wpwl-has-error', text !== '')
      group.classList.toggle('wpwl-group-has-error', text !== '')
      if (!isFrame) {
        control.setAttribute('aria-invalid', String(text !== ''))
        if (text === '') control.removeAttribute('aria-describedby')
        else control.setAttribute('aria-describedby', hintId)
      }
      options.onError?.(text)
      if (text === '') {
        hint?.remove()
        hint = null
        return settle(group)
      }
      hint ??= element('div', { class: `wpwl-hint wpwl-hint-${name}Error`, id: hintId })
      hint.textContent = text
      group.append(hint)
    },
  }
}

/** The one polite live region of a container, and the message about the payment as a whole. */
export type Notices = {
  readonly region: HTMLElement
  readonly box: HTMLElement
  /** Says a text to screen readers alone. */
  readonly announce: (text: string) => void
  /** Shows a text above the button, and says it. */
  readonly tell: (text: string, kind: 'error' | 'info') => void
  readonly clear: () => void
}

export function createNotices(): Notices {
  const live = { class: 'wpwl-live', role: 'status', 'aria-live': 'polite' }
  const region = hideFromView(element('div', live))
  const box = element('div', { class: 'wpwl-message' })
  show(box, false)
  const announce = (text: string) => {
    region.textContent = ''
    // A repeated text is read again only when the region was empty between.
    setTimeout(() => {
      region.textContent = text
    }, 40)
  }
  return {
    region,
    box,
    announce,
    tell: (text, kind) => {
      box.className = `wpwl-message wpwl-message-${kind}`
      box.textContent = text
      show(box, true)
      announce(text)
    },
    clear: () => {
      box.textContent = ''
      show(box, false)
      region.textContent = ''
    },
  }
}
