/** The frame with the card number. It sends the payment. */
import './base-style.ts'
import { brandsOf, cardBrand, gapsOf, isCardBrand, longestOf } from '../fields/card-brands.ts'
import { keepFormatted, withGaps } from '../fields/caret.ts'
import { digitsOf } from '../fields/digits.ts'
import { passesLuhn } from '../fields/luhn.ts'
import type { FieldSetup, FieldState } from '../protocol.ts'
import { createField } from './field.ts'
import { awaitPage, type PagePort } from './page-port.ts'
import { applyStyle } from './style.ts'
import { createSender } from './submission.ts'

let setup: FieldSetup | undefined
let page: PagePort | undefined
let number = ''

const stateOf = (): FieldState => {
  if (number === '') return 'empty'
  const brands = fitting()
  const isWhole =
    brands.length === 0
      ? number.length >= 12
      : brands.some((code) => {
          const { numberLengths } = cardBrand(code)
          return numberLengths.length === 0 || numberLengths.includes(number.length)
        })
  if (!isWhole || !passesLuhn(number)) return 'invalid'
  return brands.length === 0 ? 'notAccepted' : 'valid'
}

function fitting(): string[] {
  const accepted = (setup?.accepted ?? []).filter(isCardBrand)
  return brandsOf(number, accepted, setup?.priority)
}

const field = createField('cardNumber', { autocomplete: 'cc-number' }, stateOf, () => page)
const sender = createSender()

const rewrite = keepFormatted(
  field.input,
  {
    clean: (text) => {
      const digits = digitsOf(text)
      return digits.slice(0, longestOf(digits))
    },
    format: (value) => (setup?.formatting === false ? value : withGaps(value, gapsOf(value))),
  },
  (value) => {
    number = value
    page?.say({
      is: 'typed',
      state: stateOf(),
      brands: fitting(),
      bin: number.length < 6 ? '' : number.slice(0, 6),
    })
  },
)

function clear(): void {
  field.input.value = ''
  number = ''
}

// A page that the browser keeps for its back button must hold no number.
addEventListener('pagehide', clear)

awaitPage(
  (port) => {
    page = port
  },
  (word, port) => {
    switch (word.do) {
      case 'field':
        setup = word
        field.setUp(word)
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
      case 'submit':
        return void sender.send(word, { 'card.number': number }, port)
      case 'look':
        return void sender.look(port)
      case 'state':
        return void sender.follow(port)
    }
  },
)
