/** What a host needs before the engine: this module loads none of it. */
export { errorFields } from './error-words.ts'
export { unfitFieldsUrl } from './widget-files/fields-url.ts'
