/** The words of the simulator's pages in one language. `{name}` stands for a value. */
export type Texts = {
  readonly bank: string
  readonly test: string
  readonly title: string
  /** The title where no payment is confirmed, but a card. */
  readonly titleOfCard: string
  /** Above the field for the code. */
  readonly intro: string
  /** On the page of a redirect, which asks for no code. */
  readonly bankIntro: string
  readonly merchant: string
  readonly amount: string
  readonly card: string
  readonly method: string
  /** The merchant's name where the request has none. */
  readonly someShop: string
  readonly code: string
  readonly hint: string
  readonly confirm: string
  readonly approve: string
  readonly resend: string
  readonly cancel: string
  readonly resent: string
  readonly empty: string
  readonly wrong: string
  readonly help: string
  readonly helpText: string
  /** Answers of the bank beside the codes that choose them. */
  readonly confirmed: string
  readonly attempted: string
  readonly refused: string
  readonly rejected: string
  readonly unavailable: string
  /** The end of the time for an answer. */
  readonly over: string
  readonly done: string
  readonly close: string
  readonly back: string
  readonly missing: string
  readonly missingText: string
}

/** A text with its values. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => String(values[name] ?? whole))
