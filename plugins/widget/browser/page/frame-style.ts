import type { Style } from '../protocol.ts'
import type { Context } from './context.ts'

/** Properties of a field in the page that its frame takes over. */
const taken = [
  'background-color',
  'color',
  'color-scheme',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'letter-spacing',
  'line-height',
  'padding-left',
  'padding-right',
  '-webkit-text-fill-color',
]

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function named(rules: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rules ?? {})
      .filter((pair): pair is [string, string] => typeof pair[1] === 'string')
      .map(([name, value]) => [kebab(name), value]),
  )
}

/**
 * The look of the field in a frame: as an ordinary field of the form has it, so that the styles of
 * the merchant's page reach it, and `wpwlOptions.iframeStyles` on top.
 */
export function frameStyle(
  model: HTMLElement,
  placeholderName: 'card-number-placeholder' | 'cvv-placeholder',
  { options, language }: Context,
): Style {
  const computed = getComputedStyle(model)
  const rules: Record<string, string> = {}
  for (const name of taken) {
    const value = computed.getPropertyValue(name)
    if (value !== '' && value !== 'normal') rules[name] = value
  }
  const isRightToLeft = language.direction === 'rtl'
  rules['text-align'] = isRightToLeft ? 'right' : 'left'
  // The logo of the brand stands at the end.
  if (placeholderName === 'card-number-placeholder' && options.style !== 'logos') {
    rules[isRightToLeft ? 'padding-left' : 'padding-right'] = '54px'
  }
  const placeholder = getComputedStyle(model, '::placeholder')
  return {
    do: 'style',
    rules,
    placeholder: {
      color: placeholder.getPropertyValue('color'),
      opacity: placeholder.getPropertyValue('opacity'),
      ...named(options.iframeStyles?.[placeholderName]),
    },
  }
}
