/** File transfers: the folders of merchants and acquirers on other machines. */
import type { Ms } from './outcome.ts'
import type { Sensitive } from './sensitive.ts'

/** A folder on a server, and the login for it. */
export type TransferTarget = {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password?: Sensitive
  /** A private key in PEM or OpenSSH format, without a passphrase. */
  readonly privateKey?: Sensitive
  /** Absolute, or below the folder of the login. `.` is the folder of the login. */
  readonly folder: string
  /** Pinned host keys, `SHA256:` and 43 characters each. One of them must be the server's. */
  readonly hostKeys?: readonly string[]
  /** PEM certificates of the only authorities to trust. Default: the public ones. */
  readonly ca?: string
}

/** A connection to a server. */
export type TransferContext = {
  /**
   * Resolves a name and checks that the engine may connect there. Connect to the returned address,
   * never to the name, which may resolve differently a second time.
   *
   * @throws TransferError `refused-address` or `unreachable`.
   */
  addressOf(host: string, port: number): Promise<string>
  /** Longest wait for each answer of the server, and for each block of a file. */
  readonly stepMs: Ms
  /** Aborted when the whole transfer takes too long, and at shutdown. */
  readonly signal: AbortSignal
}

/** A file for a server. */
export type OutgoingFile = {
  readonly name: string
  readonly bytes: number
  /** Every call returns the same bytes from the start. */
  open(): AsyncIterable<Uint8Array>
  /**
   * An earlier try wrote the whole file as `name.part` and requested its new name, and the answer was
   * lost.
   */
  readonly isRenaming: boolean
  /** Called once the file is complete as `name.part`, before it gets its name. A throw stops there. */
  renaming(): Promise<void>
}

/**
 * The result of a transfer: `stored` now; `was-there` from an earlier try, recognised by its name and size;
 * `was-taken`: an earlier try gave the file its name, and the reader has taken the file away since.
 */
export type Put = 'stored' | 'was-there' | 'was-taken'

export type RemoteEntry = {
  readonly name: string
  readonly bytes: number
  readonly modifiedAt?: Date
}

/** An open connection to one folder. One call at a time. */
export type TransferSession = {
  /**
   * Writes `name.part`, verifies its size, and renames it, so that a reader of the folder never meets a
   * part of a file under the final name. Never overwrites a file of the final name.
   *
   * @throws TransferError
   */
  put(file: OutgoingFile): Promise<Put>
  /** The files of the folder. @throws TransferError */
  list(): Promise<readonly RemoteEntry[]>
  /** The bytes of a file. @throws TransferError, also when the bytes end early. */
  get(name: string): AsyncIterable<Uint8Array>
  /** Removes a file; one that is gone already is no error. @throws TransferError */
  remove(name: string): Promise<void>
  /** Ends the connection. Never throws. */
  close(): Promise<void>
}

/** A file protocol that a plugin brings. */
export type Transfer = {
  readonly scheme: 'sftp' | 'ftps'
  readonly defaultPort: number
  /** @throws TransferError */
  open(target: TransferTarget, context: TransferContext): Promise<TransferSession>
}

export type TransferErrorCode =
  /** The name leads to an address that the engine must not reach. */
  | 'refused-address'
  | 'unreachable'
  /** The server is not the pinned one, or its certificate is not trusted. */
  | 'wrong-server'
  | 'login'
  /** The folder, or a permission for it, is missing. */
  | 'folder'
  /** Another file has the final name. */
  | 'name-taken'
  /** The server stored another number of bytes, or refused to store more. */
  | 'not-stored'
  | 'timeout'
  /** The connection ended in the middle. */
  | 'closed'
  | 'aborted'
  /** The server speaks the protocol in a way that cannot be used. */
  | 'protocol'
  /** The stored bytes of the file could not be read here. */
  | 'source'

const brand = Symbol.for('tollgate.TransferError')

/** A failed step of a transfer. The message is for people and contains no secret. */
export class TransferError extends Error {
  override readonly name = 'TransferError'
  readonly code: TransferErrorCode
  readonly [brand] = true

  constructor(code: TransferErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Also recognises errors of a second copy of this package. */
  static is(value: unknown): value is TransferError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
