/** Adyen's reference of a dispute, and its second round as a dispute of its own: in webhooks as in reports. */
export const disputeReference = (pspReference: string, isSecond: boolean): string =>
  isSecond ? `${pspReference}.2` : pspReference
