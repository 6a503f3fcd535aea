import { AN, C, flag, group, integer, match, none, R, response, url } from '../table.ts'
import { openKey } from './formats.ts'

const instant = match('[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z', '2026-03-14T09:26:53.589Z', 24, 24)
/** Whatever was said, line by line. */
const prose = (max: number) => match(`[\\s\\S]{0,${max}}`, 'approved', 0, max)
const longest = 2_147_483_647
const steps = { maxIndex: 4999 } as const
const fields = { maxIndex: 4999, key: openKey } as const

/** What happened to a resource. */
export const stepResponse = group('', 'Step answer', [
  // name                                        format               need direction class meaning
  ['steps[n].number',                            integer(1, 5000),    R, response, none, 'Counts from 1 in the order of time.', steps],
  ['steps[n].at',                                instant,             R, response, none, 'When it happened, or is due; UTC.', steps],
  ['steps[n].name',                              AN(64),              R, response, none, 'An operation at the acquirer (debit, enquire, reverseByKey), accepted, settled, repeated, acquirer-event, attention, attention-resolved, decision, job, follow-up, execution, missed, changed, payment, schedule, notification or waits.', steps],
  ['steps[n].text',                              prose(8192),            R, response, none, 'The same for people.', steps],
  ['steps[n].outcome',                           AN(64),              C, response, none, 'What came of it.', steps],
  ['steps[n].about',                             AN(64),              C, response, none, 'Id of another resource that it is about.', steps],
  ['steps[n].by',                                AN(255),             C, response, none, 'Who: engine, operator, or what settled a payment.', steps],
  ['steps[n].durationUs',                        integer(0, longest), C, response, none, 'How long it took, in microseconds.', steps],
  ['steps[n].sent[name]',                        prose(8192),            C, response, none, 'What was sent, by field name. Of values that belong to a person the class stands in their place.', fields],
  ['steps[n].answered[name]',                    prose(8192),            C, response, none, 'What the acquirer answered, by name.', fields],
  ['steps[n].requests[n].method',                AN(16),              C, response, none, 'A request to the acquirer.', steps],
  ['steps[n].requests[n].url',                   url(2048),           C, response, none, 'Where it went.', steps],
  ['steps[n].requests[n].moves',                 flag,                C, response, none, 'Whether it was one that moves money.', steps],
  ['steps[n].requests[n].wroteBytes',            flag,                C, response, none, 'Whether any byte of it left.', steps],
  ['steps[n].requests[n].startedMs',             integer(0, longest), C, response, none, 'Milliseconds after the beginning of the call.', steps],
  ['steps[n].requests[n].durationMs',            integer(0, longest), C, response, none, 'Milliseconds until it ended.', steps],
  ['steps[n].requests[n].status',                integer(100, 999),   C, response, none, 'HTTP status of the answer.', steps],
  ['steps[n].requests[n].error',                 AN(64),              C, response, none, 'Why there was none.', steps],
  ['steps[n].requests[n].sentHeaders[name]',     prose(256),             C, response, none, 'Harmless headers of the request.', fields],
  ['steps[n].requests[n].sentBytes',             integer(0, longest), C, response, none, 'Size of its body.', steps],
  ['steps[n].requests[n].sentBody',              prose(8200),            C, response, none, 'The beginning of its body, without secrets, card numbers and personal data.', steps],
  ['steps[n].requests[n].answeredHeaders[name]', prose(256),             C, response, none, 'Harmless headers of the answer.', fields],
  ['steps[n].requests[n].answeredBytes',         integer(0, longest), C, response, none, 'Size of its body.', steps],
  ['steps[n].requests[n].answeredBody',          prose(8200),            C, response, none, 'The beginning of its body, treated alike.', steps],
], [], 'step response')
