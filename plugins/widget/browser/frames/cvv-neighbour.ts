import { checkoutPath } from './place.ts'

/** The part of a security code's frame that its neighbour of the same origin reads. */
export type CvvFrame = {
  readonly tollgateCvv?: {
    readonly nonce: string
    readonly checkoutPath: string
    readonly read: () => string
  }
}

/**
 * The security code in the frame beside, of the same checkout and the same form. The frames share
 * their origin, so the code goes from one to the other without the page around them.
 */
export function securityCode(nonce: string): string {
  for (let index = 0; index < parent.length; index++) {
    try {
      const beside = (parent[index] as unknown as CvvFrame).tollgateCvv
      if (beside?.nonce === nonce && beside.checkoutPath === checkoutPath) return beside.read()
    } catch {
      // A frame of another origin.
    }
  }
  return ''
}
