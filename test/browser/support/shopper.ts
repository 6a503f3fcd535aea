/** A shopper's hands: fields in frames and in the page. */
import type { FrameLocator, Locator, Page } from 'playwright-core'

export const numberField = (page: Page): Locator =>
  page.frameLocator('.wpwl-control-cardNumber').locator('input')

export const cvvField = (page: Page, within = '.wpwl-form-card'): Locator =>
  page.frameLocator(`${within} .wpwl-control-cvv`).locator('input')

export const challengeFrame = (page: Page): FrameLocator => page.frameLocator('.wpwl-target')

export const pay = (page: Page, form = 'card'): Promise<void> =>
  page.locator(`.wpwl-form-${form} .wpwl-button-pay`).click()

export type Card = {
  readonly number?: string
  readonly expiry?: string
  readonly cvv?: string
  readonly holder?: string
}

export async function fillCard(page: Page, card: Card = {}): Promise<void> {
  const { number = '4200000000000000', expiry = '1230', cvv = '123', holder = 'Jane Jones' } = card
  await numberField(page).pressSequentially(number)
  await page.locator('.wpwl-control-expiry').pressSequentially(expiry)
  await cvvField(page).pressSequentially(cvv)
  await page.locator('.wpwl-control-cardHolder').fill(holder)
}
