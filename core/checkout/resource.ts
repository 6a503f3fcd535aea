/** Where a merchant reads the result of a checkout. */
export const resourcePathOf = (id: string, kind: 'payment' | 'registration'): string =>
  `/v1/checkouts/${id}/${kind}`
