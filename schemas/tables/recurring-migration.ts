import { AN, C, dateTime, type FieldOptions, type Format, group, none, O, oneOf, R, reference, stored } from '../table.ts'

const old: FieldOptions = { deprecated: true }
const smallAmount: Format = { kind: 'amount', integer: 8 }

/** Initial transaction of a registration migrated from another gateway. Deprecated. */
export const recurringMigration = group('recurringMigration', 'Recurring migration', [
  // name              format                   need direction class meaning
  ['paymentType',      oneOf('DB', 'CD', 'PA'), R,   stored, none, 'Payment type of the initial transaction.', old],
  ['amount',           smallAmount,             O,   stored, none, 'Amount of the initial transaction.', old],
  ['requestTimestamp', dateTime,                C,   stored, none, 'Date of the initial transaction.', old],
  ['connectorTxId1',   AN(128),                 C,   stored, none, "First of the acquirer's references to it.", { ...old, ...reference }],
  ['connectorTxId2',   AN(128),                 C,   stored, none, "Second of the acquirer's references.", { ...old, ...reference }],
  ['connectorTxId3',   AN(128),                 C,   stored, none, "Third of the acquirer's references.", { ...old, ...reference }],
])
