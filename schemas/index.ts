export { anchoredPattern, formatPattern, maxCharactersOf, valueSchema } from './generate/format.ts'
export { type Definitions, requestSchema } from './generate/json-schema.ts'
export { covers, type Operation, operationOf } from './generate/operation.ts'
export { operationNamed, operations } from './generate/operations.ts'
export { neededRights } from './generate/rights.ts'
export { openApiDocument, reference } from './generate/served.ts'
export { type Step, stepsOf, type Tree, treeOf } from './generate/tree.ts'
export { exampleOf, formatInWords, formatMessage } from './generate/words.ts'
export {
  fieldClasses,
  panFields,
  personFields,
  sadFields,
  secretFields,
} from './generated/classes.ts'
export type * as api from './generated/types.ts'
export type {
  Answers,
  BrandCode,
  CurrencyCode,
  OperationName,
  PaymentTypeCode,
  Requests,
} from './generated/types.ts'
export * from './table.ts'
export * from './tables/brands.ts'
export * from './tables/countries.ts'
export * from './tables/currencies.ts'
export * from './tables/endpoints.ts'
export * from './tables/index.ts'
export * from './tables/limits.ts'
export * from './tables/office.ts'
export * from './tables/payment-types.ts'
export * from './tables/results.ts'
export * from './tables/rights.ts'
export * from './tables/tls.ts'
