/** What a host needs before the engine: this module loads none of it. */
export { databaseUrl, urlProblem } from './db/database-url.ts'
export { databaseClient, settle } from './db/prompt-client.ts'
export { errorFields } from './error-words.ts'
export { suggest, vocabularyOf } from './near-name.ts'
export { unfitFieldsUrl } from './widget-files/fields-url.ts'
