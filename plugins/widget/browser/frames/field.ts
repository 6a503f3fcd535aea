import { element } from '../page/dom.ts'
import type { FieldSetup, FieldState } from '../protocol.ts'
import type { PagePort } from './page-port.ts'

/** The one input of a frame, with its label and its message for screen readers. */
export type Field = {
  readonly input: HTMLInputElement
  readonly setUp: (setup: FieldSetup) => void
  /** Shows a message of the page; an empty one ends it. */
  readonly fault: (text: string) => void
}

export function createField(
  name: string,
  attributes: Record<string, string>,
  stateOf: () => FieldState,
  port: () => PagePort | undefined,
): Field {
  const message = element('span', { id: 'message', class: 'hidden' })
  const input = element('input', {
    id: 'field',
    type: 'text',
    inputmode: 'numeric',
    spellcheck: 'false',
    autocapitalize: 'off',
    dir: 'ltr',
    name,
    ...attributes,
  })
  const label = element('label', { for: 'field', class: 'hidden' })
  document.querySelector('#root')!.append(label, input, message)
  const fault = (text: string) => {
    message.textContent = text
    input.setAttribute('aria-invalid', String(text !== ''))
    if (text === '') input.removeAttribute('aria-describedby')
    else input.setAttribute('aria-describedby', 'message')
  }
  input.addEventListener('focus', () => port()?.say({ is: 'focus' }))
  input.addEventListener('blur', () => port()?.say({ is: 'blur', state: stateOf() }))
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') port()?.say({ is: 'enter' })
  })
  // The page moves the focus to the frame; the frame moves it to its field.
  addEventListener('focus', () => input.focus())
  document.addEventListener('click', () => input.focus())
  return {
    input,
    fault,
    setUp: (setup) => {
      document.documentElement.lang = setup.language
      document.title = setup.label
      label.textContent = setup.label
      input.placeholder = setup.placeholder
      input.setAttribute('aria-required', String(!setup.mayBeEmpty))
    },
  }
}
