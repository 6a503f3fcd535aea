import { AN, C, group, none, O, oneOf, pageOrApp, person, response, stored, together, url } from '../table.ts'

const returns = group('', 'Return addresses', [
  ['shopperResultUrl', pageOrApp(2048, 6), C, stored, none, "Address for the shopper's return; id and resourcePath are added to its query."],
  ['notificationUrl',  url(2048),    O, stored, none, 'Receives a GET with id and resourcePath. Use webhooks instead.', { deprecated: true }],
])

const deviceStep = 'The device step of 3-D Secure 2 runs before the redirect.'

const redirect = group('redirect', 'Redirect of the shopper', [
  // name                                  format                need direction class   meaning
  ['url',                                  AN(2048),             C,   response, none,   'Address to send the shopper to.'],
  ['method',                               oneOf('GET', 'POST'), C,   response, none,   'HTTP method of the redirect.', { because: 'Clients of this API family read this field.' }],
  ['parameters[n].name',                   AN(255),              C,   response, none,   'Name of a form field to post along.'],
  ['parameters[n].value',                  AN(255),              C,   response, person, 'Value of that form field.'],
  ['preconditions[n].origin',              AN(255),              C,   response, none,   'Origin of this hidden step before the redirect.', { because: deviceStep }],
  ['preconditions[n].waitUntil',           AN(64),               C,   response, none,   'Event that ends the wait for the step.', { because: deviceStep }],
  ['preconditions[n].method',              oneOf('GET', 'POST'), C,   response, none,   'Method of loading the hidden frame.', { because: deviceStep }],
  ['preconditions[n].url',                 AN(2048),             C,   response, none,   'Address of the hidden frame.', { because: deviceStep }],
  ['preconditions[n].description',         AN(2048),             C,   response, none,   'Description of the step.', { because: deviceStep }],
  ['preconditions[n].parameters[n].name',  AN(255),              C,   response, none,   'Name of a form field of the step.', { because: deviceStep }],
  ['preconditions[n].parameters[n].value', AN(2048),             C,   response, person, 'Value of that form field.', { because: deviceStep }],
])

/** Payments that end later: the shopper's return, and the redirect. */
export const asynchronous = together('asynchronous', 'Asynchronous payments', [returns, redirect])
