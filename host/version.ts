import engine from '@tollgate/core/package.json' with { type: 'json' }

/** The engine's own name for its version, without loading the engine. */
export const buildNumber = `tollgate-${engine.version}`
