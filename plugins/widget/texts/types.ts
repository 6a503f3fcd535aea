/**
 * Every text that a shopper can read or hear. A page overrides labels by `wpwlOptions.labels` and
 * messages by `wpwlOptions.errorMessages`, under the names below; these names are wire.
 *
 * Words in braces are replaced: `{amount}` with a formatted amount, `{brand}` with the title of a
 * brand, `{digits}` with the last four digits, `{date}` with an expiry such as 08/30.
 */
export type Texts = {
  readonly labels: Labels
  readonly errors: Errors
  readonly messages: Messages
  readonly page: PageTexts
}

/** Labels, placeholders and buttons. */
export type Labels = {
  /** The button, when the amount is unknown. */
  readonly submit: string
  /** The button with an amount, such as "Pay €92.00". */
  readonly submitAmount: string
  /** The button of a checkout that saves a card or an account and moves no money. */
  readonly submitRegistration: string
  readonly brand: string
  /** First choice in the list of brands. */
  readonly brandPlaceholder: string
  /** Above the choice between two brands on one card. */
  readonly brandChoice: string
  readonly cardNumber: string
  readonly expiryDate: string
  /** The pattern of an expiry date: month and year, two digits each, in letters of the language. */
  readonly expiryDatePlaceholder: string
  readonly cardHolder: string
  readonly cardHolderPlaceholder: string
  readonly cvv: string
  /** Help beside the security code of most cards. */
  readonly cvvHint: string
  /** Help beside the security code of American Express. */
  readonly cvvHintFront: string
  readonly createRegistration: string
  /** Heading above stored cards. */
  readonly registrations: string
  /** One stored card: brand and last digits. */
  readonly registration: string
  readonly registrationExpires: string
  /** Opens the forms below the stored cards. */
  readonly otherMethod: string
  readonly accountHolder: string
  readonly accountIban: string
  /** The mandate of a SEPA direct debit, shown above its button. */
  readonly mandate: string
  /** The button of a brand that sends the shopper to its own page. */
  readonly payWith: string
  /** Heading above the billing address. */
  readonly billingAddress: string
  readonly givenName: string
  readonly surname: string
  readonly country: string
  readonly state: string
  readonly city: string
  readonly postcode: string
  readonly street1: string
  readonly street2: string
  /** Button that closes the bank's page. */
  readonly close: string
}

/** Messages beside a field. */
export type Errors = {
  readonly brandError: string
  readonly cardNumberError: string
  /** The number is of a brand that the merchant does not accept. */
  readonly brandNotAccepted: string
  readonly expiryDateError: string
  readonly cardExpiredError: string
  readonly cardHolderError: string
  /** The holder's name looks like a card number. */
  readonly cardHolderDigitsError: string
  readonly cvvError: string
  readonly accountHolderError: string
  readonly accountIbanError: string
  readonly requiredError: string
  /** Any field that the gateway refuses for another reason. */
  readonly invalidError: string
}

/** Messages about the payment as a whole. */
export type Messages = {
  readonly loading: string
  readonly processing: string
  /** Another window pays this checkout at the moment. */
  readonly busy: string
  readonly paid: string
  readonly saved: string
  /** Declined; another try is possible. */
  readonly declined: string
  /** The merchant changed the amount while the page was open. */
  readonly changed: string
  /** No further try is possible. */
  readonly closed: string
  /** The checkout's 30 minutes are over. */
  readonly expired: string
  /** The address of the checkout is unknown. */
  readonly unknown: string
  /** The network failed; nobody knows whether the payment was made. */
  readonly connectionLost: string
  readonly tryAgain: string
  /** Heading of the bank's page. */
  readonly challengeTitle: string
  /** Read out when the bank's page opens. */
  readonly challengeOpen: string
  readonly challengeLoading: string
  /** The shopper closed the bank's page. */
  readonly challengeClosed: string
  /** The bank's page does not appear in its frame. */
  readonly challengeSlow: string
  /** Link that opens the bank's page in the whole tab. */
  readonly challengeTab: string
  readonly challengeReturned: string
  /** Goes to another page now. */
  readonly leaving: string
  /** Banner of the test environment. */
  readonly test: string
}

/** Texts of the hosted page alone. */
export type PageTexts = {
  readonly title: string
  readonly titleRegistration: string
  readonly amount: string
  readonly chooseMethod: string
  readonly back: string
  readonly secure: string
  readonly noScript: string
  /** Button that goes to the bank. */
  readonly continue: string
  /** Button that looks again whether a payment is done. */
  readonly checkAgain: string
  /** Above a form with wrong fields. */
  readonly checkEntries: string
  /** Names the list of languages. */
  readonly language: string
  /** Ways to pay, in a list. */
  readonly card: string
  readonly bankAccount: string
  /** First choice among the brands of one card. */
  readonly brandByNumber: string
}
