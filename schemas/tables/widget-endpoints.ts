import type { Endpoint } from '../table.ts'

/** Files for the browsers of shoppers: no fields, no answers of the API. */
const ofShoppers = { method: 'GET', accepts: [], answers: [], right: 'none', throttle: 'read' } as const

/** The widget, for pages of merchants in the browsers of shoppers. */
export const widgetEndpoints: readonly Endpoint[] = [
  {
    ...ofShoppers,
    operation: 'widget.script',
    path: '/v1/paymentWidgets.js',
    alsoPaths: ['/paymentWidgets.js'],
    title: 'Load the widget',
    media: 'text/javascript',
    beside200: [304],
    login: 'none',
  },
  {
    ...ofShoppers,
    operation: 'widget.asset',
    path: '/v1/widget/{hash}/{file}',
    title: 'Load a script, a style or a language of the widget',
    media: '*/*',
    beside200: [304],
    login: 'none',
    surfaces: ['merchant', 'fields'],
  },
  {
    ...ofShoppers,
    operation: 'widget.challenge',
    path: '/v1/checkouts/{id}/frame/{hash}/challenge',
    alsoPaths: ['/checkouts/{id}/frame/{hash}/challenge'],
    title: 'Load the frame around a page of the bank',
    media: 'text/html',
    login: 'checkout',
    surfaces: ['merchant', 'fields'],
  },
  {
    ...ofShoppers,
    operation: 'widget.frame',
    path: '/v1/checkouts/{id}/frame/{hash}/{name}',
    alsoPaths: ['/checkouts/{id}/frame/{hash}/{name}'],
    title: 'Load the frame of a field',
    media: 'text/html',
    login: 'checkout',
    // Not beside other pages: a script that got into one of them would reach the field.
    surfaces: ['fields'],
  },
  {
    ...ofShoppers,
    operation: 'checkouts.page',
    path: '/v1/checkouts/{id}/page',
    alsoPaths: ['/checkouts/{id}/page'],
    title: 'Show the hosted page of a checkout',
    media: 'text/html',
    beside200: [303],
    login: 'checkout',
  },
  {
    ...ofShoppers,
    operation: 'checkouts.payByPage',
    method: 'POST',
    path: '/v1/checkouts/{id}/page',
    alsoPaths: ['/checkouts/{id}/page'],
    title: 'Pay a checkout by a form of its hosted page',
    media: 'text/html',
    beside200: [303],
    login: 'checkout',
    throttle: 'write',
  },
]
