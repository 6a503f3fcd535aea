import { AN, C, flag, group, integer, match, none, R, response, url } from '../table.ts'

const instant = match('[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z', '2026-03-14T09:26:53.589Z', 24, 24)
/** Free text in the step log. */
const prose = (max: number) => match(`[\\s\\S]{0,${max}}`, 'approved', 0, max)
const longest = 2_147_483_647
const steps = { maxIndex: 4999 } as const
/** Flat names of a request, headers and names of acquirers. */
const anyKey = { pattern: '[\\s\\S]{1,255}', max: 255 } as const
const fields = { maxIndex: 4999, key: anyKey } as const

/** The steps of a resource. */
export const stepResponse = group('', 'Step answer', [
  // name                                        format               need direction class meaning
  ['steps[n].number',                            integer(1, 5000),    R, response, none, 'Number of the step, from 1 in order of time.', steps],
  ['steps[n].at',                                instant,             R, response, none, 'Time of the step, or its due time; UTC.', steps],
  ['steps[n].name',                              AN(64),              R, response, none, 'An operation at the acquirer (debit, enquire, reverseByKey), accepted, settled, settlement, repeated, acquirer-event, attention, attention-resolved, decision, job, follow-up, execution, missed, changed, payment, schedule, notification or waits.', steps],
  ['steps[n].text',                              prose(8192),            R, response, none, 'Description of the step.', steps],
  ['steps[n].outcome',                           AN(64),              C, response, none, 'Result of the step.', steps],
  ['steps[n].about',                             AN(64),              C, response, none, 'Id of another resource in the step.', steps],
  ['steps[n].by',                                AN(255),             C, response, none, "Actor: engine, operator, or the source of a payment's outcome.", steps],
  ['steps[n].durationUs',                        integer(0, longest), C, response, none, 'Duration in microseconds.', steps],
  ['steps[n].sent[name]',                        prose(8192),            C, response, none, 'Data of the request, by field name. A personal value is replaced by its class.', fields],
  ['steps[n].answered[name]',                    prose(8192),            C, response, none, 'Answer of the acquirer, by name.', fields],
  ['steps[n].requests[n].method',                AN(16),              C, response, none, 'A request to the acquirer.', steps],
  ['steps[n].requests[n].url',                   url(2048),           C, response, none, 'Address of the request.', steps],
  ['steps[n].requests[n].moves',                 flag,                C, response, none, 'Whether the request can move money.', steps],
  ['steps[n].requests[n].wroteBytes',            flag,                C, response, none, 'Whether any byte was written.', steps],
  ['steps[n].requests[n].startedMs',             integer(0, longest), C, response, none, 'Start in milliseconds after the beginning of the call.', steps],
  ['steps[n].requests[n].durationMs',            integer(0, longest), C, response, none, 'Duration in milliseconds.', steps],
  ['steps[n].requests[n].status',                integer(100, 999),   C, response, none, 'HTTP status of the answer.', steps],
  ['steps[n].requests[n].error',                 AN(64),              C, response, none, 'Reason for a missing answer.', steps],
  ['steps[n].requests[n].sentHeaders[name]',     prose(256),             C, response, none, 'Headers of the request without secrets.', fields],
  ['steps[n].requests[n].sentBytes',             integer(0, longest), C, response, none, 'Size of the request body.', steps],
  ['steps[n].requests[n].sentBody',              prose(8200),            C, response, none, 'Start of the request body, without secrets, card numbers and personal data.', steps],
  ['steps[n].requests[n].answeredHeaders[name]', prose(256),             C, response, none, 'Headers of the answer without secrets.', fields],
  ['steps[n].requests[n].answeredBytes',         integer(0, longest), C, response, none, 'Size of the answer body.', steps],
  ['steps[n].requests[n].answeredBody',          prose(8200),            C, response, none, 'Start of the answer body, without secrets, card numbers and personal data.', steps],
], [], 'step response')
