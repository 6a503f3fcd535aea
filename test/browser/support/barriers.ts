/** The looks at a page that hold in every language: no barrier, and no text left in English. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Look = {
  /** A part that is not looked at: selectors from frame to frame. */
  readonly without?: readonly string[]
  /** The page has no frames of other origins, which take a longer look. */
  readonly isAlone?: boolean
  /** The colours of this page are looked at in another language. */
  readonly areColoursKnown?: boolean
}

/** Barriers of the page and its frames. */
export async function barriersOf(page: Page, look: Look = {}): Promise<string[]> {
  const axe = new AxeBuilder({ page }).withTags(rules)
  if (look.without !== undefined) axe.exclude([...look.without])
  if (look.isAlone === true) axe.setLegacyMode()
  if (look.areColoursKnown === true) axe.disableRules('color-contrast')
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Every text that people see or hear in the page and its frames below a selector, without repeats. */
export async function textsOf(page: Page, within: string): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const frame of page.frames()) {
    const selector = frame === page.mainFrame() ? within : 'body'
    const texts = await frame.evaluate((inside) => {
      const said: string[] = []
      for (const root of document.querySelectorAll(inside)) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
          const parent = node.parentElement
          const isName = parent?.closest(
            'script, style, noscript, svg, bdi, code, option, [hreflang]',
          )
          if (isName == null) said.push(node.textContent ?? '')
        }
        for (const one of root.querySelectorAll('[aria-label], [placeholder], [title]')) {
          for (const name of ['aria-label', 'placeholder', 'title'])
            said.push(one.getAttribute(name) ?? '')
        }
      }
      return said
    }, selector)
    for (const text of texts) if (/\p{L}{2}/u.test(text)) found.add(text.trim())
  }
  return [...found]
}

/** The texts of a language that are those of the English page. @param names that are the same everywhere */
export const leftInEnglish = (
  texts: readonly string[],
  english: readonly string[],
  names: ReadonlySet<string>,
): string[] => texts.filter((text) => english.includes(text) && !names.has(text))
