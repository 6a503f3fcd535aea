import type { Style } from '../protocol.ts'

/** Properties of text that a merchant may choose; nothing that loads, moves or covers. */
const allowed = new Set([
  'background-color',
  'color',
  'caret-color',
  'color-scheme',
  'direction',
  'font-family',
  'font-size',
  'font-style',
  'font-variant-numeric',
  'font-weight',
  'letter-spacing',
  'line-height',
  'opacity',
  'padding-left',
  'padding-right',
  'text-align',
  'text-indent',
  'text-shadow',
  'text-transform',
  '-webkit-text-fill-color',
])

const forbidden = /url\s*\(|image|expression|@|[{}<>\\;]|\/\*/i

const sheet = new CSSStyleSheet()
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]

function block(rules: Readonly<Record<string, string>>, important = ''): string {
  return Object.entries(rules)
    .filter(
      ([name, value]) =>
        allowed.has(name) &&
        typeof value === 'string' &&
        value.length < 256 &&
        !forbidden.test(value),
    )
    .map(([name, value]) => `${name}:${value}${important}`)
    .join(';')
}

export function applyStyle({ rules, placeholder }: Style): void {
  const {
    'color-scheme': scheme = 'normal',
    'background-color': colour = 'transparent',
    ...rest
  } = rules
  sheet.replaceSync(
    `:root{${block({ 'color-scheme': scheme, 'background-color': colour })}}` +
      `input{${block(rest)}}input::placeholder{${block(placeholder)}}`,
  )
}
