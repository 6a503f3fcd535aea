/** A shopper's hands: fields in frames and in the page. */
import type { FrameLocator, Locator, Page } from 'playwright-core'

export const numberField = (page: Page): Locator =>
  page.frameLocator('.wpwl-control-cardNumber').locator('input')

export const cvvField = (page: Page, within = '.wpwl-form-card'): Locator =>
  page.frameLocator(`${within} .wpwl-control-cvv`).locator('input')

export const challengeFrame = (page: Page): FrameLocator => page.frameLocator('.wpwl-target')

export const pay = (page: Page, form = 'card'): Promise<void> =>
  page.locator(`.wpwl-form-${form} .wpwl-button-pay`).click()

/** Presses, and waits for the end of the check: a press that meets an earlier one under way does nothing. */
export async function payRefused(page: Page): Promise<void> {
  const button = page.locator('.wpwl-form-card .wpwl-button-pay')
  await button.evaluate((own) => own.classList.remove('wpwl-button-error'))
  await button.click()
  await button.and(page.locator('.wpwl-button-error')).waitFor()
}

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
