/** Servers of plugins: processes of their own, in which others read files of the engine. */
import type { Log } from './connector.ts'
import type { Sensitive } from './sensitive.ts'

/** A file that the engine serves. Its bytes never change. */
export type ServedFile = {
  readonly name: string
  readonly bytes: number
  readonly madeAt: Date
}

/** An open file. */
export type OpenFile = ServedFile & {
  /** At most `length` bytes from `offset`; fewer at the end, none beyond it. */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** The files of one entity. */
export type ServedFolder = {
  /** Oldest first. */
  list(): Promise<readonly ServedFile[]>
  /** @returns undefined for a name that the folder does not have. */
  stat(name: string): Promise<ServedFile | undefined>
  open(name: string): Promise<OpenFile | undefined>
}

/** A person or program that has proven to hold a key. */
export type ServerLogin = {
  readonly entityId: string
  /** The merchant of the entity, or the entity itself above merchants: a server gives one only a part of its room. */
  readonly merchantId?: string
  readonly folder: ServedFolder
}

/** The engine's side of a server. */
export type ServerContext = {
  /**
   * The server's own private key of this name, sealed in the database. The first process makes it; all
   * others get the same.
   */
  ownKey(name: string, make: () => string): Promise<Sensitive>
  /**
   * Whether a public key belongs to an entity.
   *
   * @param user the name of the login: an entity id.
   * @param key the public key in SSH wire format.
   */
  knows(user: string, key: Uint8Array): Promise<boolean>
  /** The login of a key whose signature the server has verified. @returns undefined when it was removed. */
  login(user: string, key: Uint8Array): Promise<ServerLogin | undefined>
  readonly log: Log
}

export type ServerOptions = {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
}

export type RunningServer = {
  readonly host: string
  readonly port: number
  /** SHA256 fingerprints of the host keys, for clients to pin. */
  readonly fingerprints: readonly string[]
  /** Ends all connections. */
  close(): Promise<void>
}

/** A server that a plugin brings. */
export type Server = {
  /** `sftp`. */
  readonly name: string
  readonly defaultPort: number
  listen(options: ServerOptions, context: ServerContext): Promise<RunningServer>
}
