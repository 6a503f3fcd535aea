/** A mistake: replaces a text that occurs once in a source. */
export type Patch = { readonly file: string; readonly find: string; readonly put: string }

/** Names the mistakes of a host process. */
export const mutantVariable = 'TOLLGATE_FAULTS_MUTANT'
