/** The options of deployed pages. Each works; the others are named on the console. */
import { asksForSomething, unavailableOptions } from './unavailable-options.ts'

export type WidgetError = Error & { readonly name: string }

type Words = Readonly<Record<string, string>>

export type Options = {
  locale?: string
  style?: 'card' | 'plain' | 'none' | 'logos'
  labels?: Words
  errorMessages?: Words
  showLabels?: boolean
  showPlaceholders?: boolean
  brandDetection?: boolean
  brandDetectionType?: string
  brandDetectionPriority?: readonly string[]
  requireCvv?: boolean
  allowEmptyCvv?: boolean
  allowEmptyCardHolderName?: boolean
  forceCardHolderEqualsBillingName?: boolean
  maskCvv?: boolean
  showCVVHint?: boolean
  numberFormatting?: boolean
  disableCardExpiryDateValidation?: boolean
  disableSubmitOnEnter?: boolean
  iframeStyles?: Readonly<Record<string, Words>>
  paymentTarget?: string
  shopperResultTarget?: string
  autofocus?: string
  billingAddress?: Words
  mandatoryBillingFields?: Readonly<Record<string, boolean>>
  /** Brands whose own script may run in the page. */
  inlineFlow?: readonly string[]
  registrations?: { requireCvv?: boolean; hideInitialPaymentForms?: boolean }
  threeDIframeSize?: { width?: string; height?: string }
  browser?: { threeDChallengeWindow?: string | number }
  onReady?: (containers: readonly Element[]) => void
  onReadyIframeCommunication?: (this: HTMLIFrameElement, frame: HTMLIFrameElement) => void
  onBeforeSubmitCard?: (event: Event) => unknown
  onBeforeSubmitCardPromise?: (event: Event) => unknown
  onBeforeSubmitOneClickCard?: (event: Event) => unknown
  onAfterSubmit?: () => void
  onError?: (error: WidgetError) => void
  onDetectBrand?: (brands: readonly string[], active: string) => void
  onDetectBin?: (bin: string) => void
  onChangeBrand?: (brand: string) => void
  onBlurCardNumber?: (isValid: boolean) => void
  onBlurCardHolder?: (isValid: boolean) => void
  onBlurSecurityCode?: (isValid: boolean) => void
  onFocusIframe?: (this: HTMLIFrameElement, frame: HTMLIFrameElement) => void
  onLoadThreeDIframe?: (this: HTMLIFrameElement, frame: HTMLIFrameElement) => void
  /** Has no effect but on the text of the button. */
  useSummaryPage?: unknown
}

/** Options that work, in the order of the documentation. */
export const workingOptions = [
  'locale',
  'style',
  'labels',
  'errorMessages',
  'showLabels',
  'showPlaceholders',
  'brandDetection',
  'brandDetectionType',
  'brandDetectionPriority',
  'requireCvv',
  'allowEmptyCvv',
  'allowEmptyCardHolderName',
  'forceCardHolderEqualsBillingName',
  'maskCvv',
  'showCVVHint',
  'numberFormatting',
  'disableCardExpiryDateValidation',
  'disableSubmitOnEnter',
  'iframeStyles',
  'paymentTarget',
  'shopperResultTarget',
  'autofocus',
  'billingAddress',
  'mandatoryBillingFields',
  'registrations',
  'threeDIframeSize',
  'browser',
  'onReady',
  'onReadyIframeCommunication',
  'onBeforeSubmitCard',
  'onBeforeSubmitCardPromise',
  'onBeforeSubmitOneClickCard',
  'onAfterSubmit',
  'onError',
  'onDetectBrand',
  'onDetectBin',
  'onChangeBrand',
  'onBlurCardNumber',
  'onBlurCardHolder',
  'onBlurSecurityCode',
  'onFocusIframe',
  'onLoadThreeDIframe',
] as const satisfies readonly (keyof Options)[]

declare const wpwlOptions: unknown

/** The page's options as they are at the moment, also when declared with `let` or `const`. */
export function givenOptions(): Options {
  const given = typeof wpwlOptions === 'undefined' ? undefined : wpwlOptions
  return typeof given === 'object' && given !== null ? (given as Options) : {}
}

/** The page's options; what does not work is said on the console by name. */
export function readOptions(): Options {
  const options = givenOptions()
  for (const [name, value] of Object.entries(options)) {
    if ((workingOptions as readonly string[]).includes(name)) continue
    const reason = unavailableOptions[name]
    if (name === 'inlineFlow' && isAboutWallets(value)) continue
    if (reason === undefined) console.warn(`Tollgate widget: wpwlOptions.${name} has no effect`)
    else if (asksForSomething(value)) {
      console.warn(`Tollgate widget: wpwlOptions.${name} does not work here: ${reason}`)
    }
  }
  if (options.brandDetectionType === 'binlist') {
    console.warn(
      'Tollgate widget: wpwlOptions.brandDetectionType: binlist has no effect, brands are detected by the built-in table of number ranges',
    )
  }
  return withFlags(options)
}

/** Wallets have their sheets in the page; other brands have pages of their own. */
const isAboutWallets = (value: unknown): boolean =>
  Array.isArray(value) && value.every((brand) => brand === 'GOOGLEPAY' || brand === 'APPLEPAY')

/** Names of options whose members are switches. */
const groupsOfFlags: readonly string[] = ['registrations', 'mandatoryBillingFields']

/**
 * Pages that templates write have `'true'` and `'false'` as text. Everything else stays as it is in
 * the page's object, which may still change.
 */
function withFlags<Given extends object>(options: Given): Given {
  const read: Given = Object.create(options)
  for (const [name, value] of Object.entries(options)) {
    const isGroup = groupsOfFlags.includes(name) && typeof value === 'object' && value !== null
    if (isGroup) Object.defineProperty(read, name, { value: withFlags(value) })
    if (value === 'true' || value === 'false') {
      Object.defineProperty(read, name, { value: value === 'true' })
    }
  }
  return read
}

/** An error with the name that deployed pages look for. */
export function widgetError(
  name:
    | 'InvalidCheckoutIdError'
    | 'PciIframeSubmitError'
    | 'PciIframeCommunicationError'
    | 'WidgetError',
  message: string,
): WidgetError {
  const error = new Error(message)
  error.name = name
  return error
}

/** Calls a page's function. A page's mistake is shown on the console and stops nothing. */
export function call<Given extends unknown[]>(
  callback: ((...given: Given) => unknown) | undefined,
  self: unknown,
  ...given: Given
): unknown {
  if (typeof callback !== 'function') return undefined
  try {
    return callback.apply(self, given)
  } catch (thrown) {
    showMistake(thrown)
    return undefined
  }
}

type Check = 'onBeforeSubmitCard' | 'onBeforeSubmitCardPromise' | 'onBeforeSubmitOneClickCard'

/**
 * Asks a page's function whether a payment may be sent. Functions that return nothing agree.
 *
 * @throws Error about a function that failed: nobody knows what it would have said
 */
export async function agrees(options: Options, name: Check, event: Event): Promise<boolean> {
  const check = options[name]
  if (typeof check !== 'function') return true
  try {
    const said: unknown = await check.call(window, event)
    return said !== false && said !== 0 && said !== 'false'
  } catch (thrown) {
    showMistake(thrown)
    throw new Error(`wpwlOptions.${name} failed, so no payment was sent: ${thrown}`)
  }
}

function showMistake(thrown: unknown): void {
  console.error(thrown)
  if (isMissingJQuery(thrown)) {
    console.error(
      'Tollgate widget: wpwlOptions call jQuery, and the widget brings none: load it in the page',
    )
  }
}

function isMissingJQuery(thrown: unknown): boolean {
  return (
    thrown instanceof ReferenceError && /(?:^|[\s'"])(?:\$|jQuery)(?:$|[\s'"])/.test(thrown.message)
  )
}
