/** A mistake: this text of a source, which stands there once, becomes that. */
export type Patch = { readonly file: string; readonly find: string; readonly put: string }

/** Tells a host process which mistakes it makes. */
export const mutantVariable = 'TOLLGATE_FAULTS_MUTANT'
