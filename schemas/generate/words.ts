import type { Format } from '../table.ts'
import { anchoredPattern } from './format.ts'

const lengths = (min: number, max: number, of: string) =>
  min === max ? `${min} ${of}` : min <= 1 ? `up to ${max} ${of}` : `${min} to ${max} ${of}`

/** A format in words, for the reference page and for refusals. */
export function formatInWords(format: Format): string {
  switch (format.kind) {
    case 'text':
      return lengths(format.min, format.max, 'characters')
    case 'digits':
      return lengths(format.min, format.max, 'digits')
    case 'letters':
      return lengths(format.min, format.max, 'letters')
    case 'pattern':
      return format.min === undefined || format.max === undefined
        ? `text like ${format.example}`
        : `${lengths(format.min, format.max, 'characters')} like ${format.example}`
    case 'amount':
      return `up to ${format.integer} digits ${format.fixed ? 'and always' : 'with none or'} two decimals, like 92.00`
    case 'decimal': {
      const digits = `up to ${format.integer} digits`
      const decimals = format.fraction === 0 ? '' : ` and up to ${format.fraction} decimals`
      const range = format.max === undefined ? '' : `, ${format.min ?? 0} to ${format.max}`
      return `number of ${digits}${decimals}${range}`
    }
    case 'integer':
      return `whole number from ${format.min} to ${format.max}`
    case 'choice':
      return format.of.length === 1 ? `${format.of[0]}` : `one of ${format.of.join(', ')}`
    case 'flag':
      return 'true or false'
    case 'date':
      return 'date that exists, yyyy-MM-dd'
    case 'date-time':
      return 'date and time that exist, yyyy-MM-dd HH:mm:ss'
    case 'url':
      return `absolute http or https URL${format.apps === true ? ' or link of an app (myapp://…)' : ''}, ${lengths(format.min ?? 1, format.max, 'characters')}`
    case 'either':
      return format.of.map(formatInWords).join(', or ')
    case 'list':
      return `up to ${format.max} values with commas between them, each ${formatInWords(format.of)}`
    case 'currency':
      return 'currency code of ISO 4217, three capital letters'
    case 'country':
      return 'country code of ISO 3166-1, two capital letters'
    case 'country-alpha3':
      return 'country code of ISO 3166-1, three capital letters'
    case 'country-numeric':
      return 'country code of ISO 3166-1, three digits'
    case 'brand':
      return 'code of a brand'
    case 'payment-type':
      return 'code of a payment type'
  }
}

/** A valid value of the format. */
export function exampleOf(format: Format): string {
  switch (format.kind) {
    case 'text':
      return 'Example text'.slice(0, format.max).padEnd(format.min, '.')
    case 'digits':
      return '1234567890'.repeat(7).slice(0, Math.min(Math.max(format.min, 1), 64))
    case 'letters':
      return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, format.max)
    case 'pattern':
      return format.example
    case 'amount':
      return '92.00'
    case 'decimal':
      return String(Math.max(format.min ?? 1, Math.min(1, format.max ?? 1)))
    case 'integer':
      return String(format.min)
    case 'choice':
      return format.of[0] ?? ''
    case 'flag':
      return 'true'
    case 'date':
      return '2028-02-29'
    case 'date-time':
      return '2028-02-29 12:30:00'
    case 'url':
      return 'https://shop.example/result'
    case 'either':
      return format.of[0] === undefined ? '' : exampleOf(format.of[0])
    case 'list':
      return exampleOf(format.of)
    case 'currency':
      return 'EUR'
    case 'country':
      return 'DE'
    case 'country-alpha3':
      return 'DEU'
    case 'country-numeric':
      return '276'
    case 'brand':
      return 'VISA'
    case 'payment-type':
      return 'DB'
  }
}

/** The allowed values, as the message of a refusal. */
export function formatMessage(format: Format): string {
  switch (format.kind) {
    case 'text':
      return `must have ${formatInWords(format)}`
    case 'digits':
    case 'letters':
    case 'amount':
    case 'pattern':
    case 'currency':
    case 'country':
    case 'country-alpha3':
    case 'country-numeric':
    case 'brand':
    case 'payment-type':
      return `must match ${anchoredPattern(format)} (${formatInWords(format)})`
    case 'list':
      return `must be ${formatInWords(format)}`
    default:
      return `must be ${article(formatInWords(format))}`
  }
}

const article = (words: string) =>
  /^(number|whole|date)/.test(words)
    ? `a ${words}`
    : /^absolute/.test(words)
      ? `an ${words}`
      : words
