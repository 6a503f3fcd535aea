/** The options of deployed pages. Each works; the others are named on the console. */

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
  onDetectBrand?: (brands: readonly string[]) => void
  onDetectBin?: (bin: string) => void
  onBlurCardNumber?: (isValid: boolean) => void
  onBlurCardHolder?: (isValid: boolean) => void
  onBlurSecurityCode?: (isValid: boolean) => void
  onFocusIframe?: (this: HTMLIFrameElement, frame: HTMLIFrameElement) => void
  onLoadThreeDIframe?: (this: HTMLIFrameElement, frame: HTMLIFrameElement) => void
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
  'onBlurCardNumber',
  'onBlurCardHolder',
  'onBlurSecurityCode',
  'onFocusIframe',
  'onLoadThreeDIframe',
] as const satisfies readonly (keyof Options)[]

/** The page's options as they are at the moment. */
export function givenOptions(): Options {
  const given = (window as { wpwlOptions?: unknown }).wpwlOptions
  return typeof given === 'object' && given !== null ? (given as Options) : {}
}

/** The page's options; what does not work is said on the console by name. */
export function readOptions(): Options {
  const options = givenOptions()
  const without: string[] = Object.keys(options).filter(
    (name) => !(workingOptions as readonly string[]).includes(name),
  )
  if (options.brandDetectionType === 'binlist') without.push('brandDetectionType: binlist')
  for (const name of without) console.warn(`Tollgate widget: wpwlOptions.${name} has no effect`)
  return options
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
    console.error(thrown)
    return undefined
  }
}
