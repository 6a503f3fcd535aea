/** Options of deployed pages that do not work here: the reason, and another way to the same end. */
export const unavailableOptions: Readonly<Record<string, string>> = {
  useSummaryPage:
    'the button pays at once, because no security code is kept for a later page. Show the summary before the form, or store the card by a checkout for a registration and charge the registration after the summary.',
  onSaveTransactionData:
    'it is never called, because no data waits for a summary page: see useSummaryPage. The result page reads what was paid.',
  inlineFlow:
    'a brand with a page of its own opens it in the tab. paymentTarget names another window or frame for it.',
}

/** Whether a page relies on the value: `false` and an empty list ask for nothing. */
export const asksForSomething = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : Boolean(value)
