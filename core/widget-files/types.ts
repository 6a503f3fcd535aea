/** The widget as a process serves it. The engine stores it and reads nothing into it. */

/** Bytes addressed by their hash. */
export type WidgetFile = {
  /** Name in the address: `en.js`. */
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly hash: string
  readonly bytes: Uint8Array
}

/** A document that stands in the merchant's page. */
export type WidgetFrame = {
  /** `number`, `cvv`, `challenge`. */
  readonly name: string
  /** The hash in its address, which the loader knows. */
  readonly hash: string
  readonly html: string
  /** Without `frame-ancestors`, which the gateway adds for each checkout. */
  readonly contentSecurityPolicy: string
}

/** One version of the widget. */
export type WidgetRelease = {
  /** The script in the merchant's page, with the `integrity` of its bytes. */
  readonly loader: WidgetFile & { readonly integrity: string }
  readonly frames: readonly WidgetFrame[]
  /** Scripts, styles and languages. */
  readonly files: readonly WidgetFile[]
}
