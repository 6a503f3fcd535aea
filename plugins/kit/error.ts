export type PluginErrorCode =
  | 'not-a-plugin'
  | 'contract-version'
  | 'bad-name'
  | 'duplicate-name'
  | 'missing-handler'
  | 'bad-setting'

/** A plugin that cannot be used, found at start. `code` is stable, the message says what to change. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code: PluginErrorCode

  constructor(code: PluginErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
