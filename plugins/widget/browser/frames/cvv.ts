/** The frame with the security code. It tells the code to the sending frame of its form alone. */
import './base-style.ts'
import { keepFormatted } from '../fields/caret.ts'
import { digitsOf } from '../fields/digits.ts'
import type { FieldSetup, FieldState } from '../protocol.ts'
import type { CvvFrame } from './cvv-neighbour.ts'
import { createField } from './field.ts'
import { awaitPage, type PagePort } from './page-port.ts'
import { checkoutPath } from './place.ts'
import { applyStyle } from './style.ts'

let setup: FieldSetup | undefined
let page: PagePort | undefined
let lengths: readonly number[] = []
let code = ''

const stateOf = (): FieldState => {
  if (code === '') return setup?.mayBeEmpty ? 'valid' : 'empty'
  const allowed = lengths.length === 0 ? [3, 4] : lengths
  return allowed.includes(code.length) ? 'valid' : 'invalid'
}

const field = createField('cvv', { autocomplete: 'cc-csc' }, stateOf, () => page)

const rewrite = keepFormatted(
  field.input,
  {
    clean: (text) => digitsOf(text).slice(0, Math.max(...(lengths.length === 0 ? [4] : lengths))),
    format: (value) => value,
  },
  (value) => {
    code = value
    page?.say({ is: 'typed', state: stateOf(), brands: [], bin: '' })
  },
)

function clear(): void {
  field.input.value = ''
  code = ''
}

addEventListener('pagehide', clear)

awaitPage(
  (port) => {
    page = port
    const shown: CvvFrame['tollgateCvv'] = { nonce: port.nonce, checkoutPath, read: () => code }
    Object.defineProperty(window, 'tollgateCvv', { value: shown })
  },
  (word, port) => {
    switch (word.do) {
      case 'field':
        setup = word
        field.setUp(word)
        field.input.type = word.masked ? 'password' : 'text'
        return rewrite()
      case 'cvvLengths':
        lengths = word.lengths
        return rewrite()
      case 'style':
        return applyStyle(word)
      case 'fault':
        return field.fault(word.text)
      case 'focus':
        return field.input.focus()
      case 'check':
        return port.say({ is: 'checked', state: stateOf() })
      case 'clear':
        clear()
        return rewrite()
    }
  },
)
