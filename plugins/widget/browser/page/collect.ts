import type { Context } from './context.ts'

/** Fields that a merchant may add to the form for the shopper to fill in. */
const allowed =
  /^(?:createRegistration|customParameters\[SHOPPER_[\w.]{1,56}\]|customer\.(?:givenName|surname|middleName|email|phone|mobile|birthDate|companyName)|billing\.(?:street1|street2|houseNumber1|houseNumber2|city|state|postcode|country))$/

/** Fields of the forms' own, which are read one by one. */
const own = /^(?:paymentBrand|registrationId|card\.\w+|bankAccount\.\w+)$/
const told = new Set<string>()

/** The filled fields of a form that travel with the payment; the console names those left out. */
export function addedFields(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string' || value === '') continue
    if (allowed.test(name)) fields[name] = value
    else if (!own.test(name)) tellOnce(name)
  }
  return fields
}

function tellOnce(name: string): void {
  if (told.has(name)) return
  told.add(name)
  console.warn(
    `Tollgate widget: the field ${name} is left out; the merchant's server can send it with the checkout`,
  )
}

/** What an issuer wants to know about the browser. */
export function browserFields({ options }: Context): Record<string, string> {
  const size = String(options.browser?.threeDChallengeWindow ?? '')
  return {
    'customer.browser.language': languageTag(),
    'customer.browser.screenHeight': String(screen.height),
    'customer.browser.screenWidth': String(screen.width),
    'customer.browser.screenColorDepth': String(screen.colorDepth),
    'customer.browser.timezone': String(new Date().getTimezoneOffset()),
    'customer.browser.userAgent': navigator.userAgent.slice(0, 2048),
    'customer.browser.javaEnabled': 'false',
    ...(/^[1-5]$/.test(size) ? { 'customer.browser.challengeWindow': size } : {}),
  }
}

/** The field takes eight characters; of a longer tag the language itself remains. */
function languageTag(): string {
  const { language } = navigator
  return language.length <= 8 ? language : (language.split('-')[0] ?? 'en')
}

/** The resolved action of the merchant's form, which most shops use as the result page. */
export function resultAddress({ merchantForm }: Context): string {
  const action = merchantForm.getAttribute('action')
  if (action === null || action === '') return ''
  try {
    const address = new URL(action, document.baseURI)
    return /^https?:$/.test(address.protocol) ? address.href : ''
  } catch {
    return ''
  }
}

/** The page of the merchant's form with the names of what to read there, as the gateway adds them. */
export function resultOf(context: Context): string | undefined {
  const address = resultAddress(context)
  if (address === '') return undefined
  const { checkoutId } = context.place
  const location = new URL(address)
  location.searchParams.set('id', checkoutId)
  const resource = `/v1/checkouts/${checkoutId}/${context.checkout.kind}`
  location.searchParams.set('resourcePath', resource)
  return location.href
}

/**
 * The own page of this form for a checkout that another press paid: the gateway names no page of others. Undefined
 * without an action, and where the checkout has a page.
 */
export function ownResult(context: Context): string | undefined {
  return context.checkout.result ? undefined : resultOf(context)
}
