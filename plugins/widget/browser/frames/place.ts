/** The frame's own address: `<base>/checkouts/<id>/frame/<hash>/<name>`. */
const [base = '', rest = ''] = location.pathname.split('/checkouts/')

const checkoutId = rest.split('/')[0] ?? ''

export const checkoutPath = `${base}/checkouts/${checkoutId}`
