import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * What keeps people from using a page: one line for each rule of accessibility that it breaks. Frames of other
 * origins are left out, so that the page is examined in its own tab: a second tab for each look doubles the work.
 */
export async function barriersOf(
  page: Page,
  {
    tags,
    exclude = [],
  }: { readonly tags?: readonly string[]; readonly exclude?: readonly string[] } = {},
): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  if (tags !== undefined) axe.withTags([...tags])
  for (const selector of exclude) axe.exclude(selector)
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
