export type PluginErrorCode =
  | 'not-a-plugin'
  | 'contract-version'
  | 'bad-name'
  | 'duplicate-name'
  | 'missing-handler'
  | 'bad-facts'
  | 'bad-settlement'
  | 'bad-setting'

/** An unusable plugin, found at start. `code` is stable, the message describes the remedy. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code: PluginErrorCode

  constructor(code: PluginErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
