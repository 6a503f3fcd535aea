import type { Context, RemoteFile, SettingsOf, Settlement } from '@tollgate/plugin-kit'
import { type account, type config, headersOf } from '../http-settings.ts'
import { objectOf, textOf, WireError } from '../wire.ts'
import { clearing } from './clearing.ts'
import { partBytes } from './serve.ts'
import { merchantNumberOf } from './state.ts'

type Config = SettingsOf<typeof config.rows>
type Account = SettingsOf<typeof account.rows>
type HttpContext = Context<Config, Account>

/** The settlement files of the acquirer behind HTTP. The cursor is the business day of a file. */
export const settlement: Settlement<Config, Account> = {
  ...clearing,
  merchantOf: ({ merchantId }) => merchantNumberOf(merchantId),
  fetch,
}

async function* fetch(
  cursor: string | undefined,
  context: HttpContext,
): AsyncGenerator<RemoteFile> {
  const { http, config, account, clock } = context
  const query = {
    at: String(clock.now().getTime()),
    ...(cursor === undefined ? {} : { after: cursor }),
  }
  const headers = headersOf(account)
  const answer = await http.get(`${config.url}/settlements`, query, { headers })
  if (answer.status !== 200) throw new WireError(`the acquirer answered with HTTP ${answer.status}`)
  const { files } = objectOf(answer.json(), 'answer')
  if (!Array.isArray(files)) throw new WireError('files must be a list')
  for (const given of files) {
    const file = objectOf(given, 'file')
    const day = textOf(file.day, 'file.day')
    const bytes = Number(file.bytes)
    yield {
      name: `simulator-${day}.csv`,
      cursor: day,
      open: async () => partsOf(day, bytes, context),
    }
  }
}

/** @throws WireError when the file is shorter than the list said. */
async function* partsOf(
  day: string,
  bytes: number,
  { http, config, account }: HttpContext,
): AsyncGenerator<Uint8Array> {
  const headers = headersOf(account)
  for (let from = 0; from < bytes; ) {
    const url = `${config.url}/settlements/${encodeURIComponent(day)}`
    const { status, body } = await http.get(url, { from: String(from) }, { headers })
    if (status !== 200 || body.length === 0 || body.length > partBytes) {
      throw new WireError(`the acquirer answered with HTTP ${status} and ${body.length} bytes`)
    }
    yield body
    from += body.length
  }
}
