import { PluginError, type RunningServer, type ServerOptions } from '@tollgate/plugin-kit'
import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { buildNumber, embedder, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { aboutNow } from '../webhook/operations.ts'
import { serverContextOf } from './context.ts'
import { type SftpKeysView, type SftpKeyView, sftpKeyWork } from './operations.ts'

/** Servers of plugins from which merchants read their report files, and the keys for them. */
export class ServedFiles {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly createKey = (
    request: Requests['sftpKeys.create'],
    options?: RequestOptions,
  ): Promise<SftpKeyView> => this.#do('create', '', request, options)
  readonly listKeys = (
    request: Requests['sftpKeys.list'] = {},
    options?: RequestOptions,
  ): Promise<SftpKeysView> => this.#do('list', '', request, options)
  readonly removeKey = (id: string, options?: RequestOptions): Promise<SftpKeyView> =>
    this.#do('remove', id, {}, options)

  /** The usual port of a server. @throws PluginError when no plugin brings the server. */
  portOf(name: string): number {
    return this.#server(name).defaultPort
  }

  /**
   * Starts a server of a plugin in this process. The caller closes the server before the gateway.
   *
   * @throws PluginError when no plugin brings the server.
   */
  async listen(name: string, options: ServerOptions): Promise<RunningServer> {
    return this.#server(name).listen(options, serverContextOf(this.#engine))
  }

  #server(name: string) {
    const server = this.#engine.registry.servers.get(name)
    if (server !== undefined) return server
    throw new PluginError(
      'missing-handler',
      `No plugin brings the server "${name}". Load one that does, such as @tollgate/file-server.`,
    )
  }

  async #do<View>(
    verb: string,
    id: string,
    values: unknown,
    { caller: given = embedder, by }: RequestOptions = {},
  ): Promise<View> {
    const operation = `sftpKeys.${verb}`
    const caller = by === undefined ? given : { ...given, by }
    const request = await read(this.#engine, caller, operation, { values })
    const about = aboutNow(this.#engine, newId(), buildNumber)
    return (await sftpKeyWork[operation]!(this.#engine, caller, id, request, about)) as View
  }
}
