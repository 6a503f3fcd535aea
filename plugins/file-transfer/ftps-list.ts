/** Lists of folders by FTPS. They are read line by line: a server could send one without an end. */
import { TransferError } from '@tollgate/plugin-kit'
import { type Client, type FileInfo, FTPError, parseList } from 'basic-ftp'
import { mostEntries, tooMany } from './entries.ts'

/** Names have at most 255 bytes, and what stands before them is shorter. */
const longestLine = 4_096

/** Every entry of the folder. */
export async function entriesOf(client: Client, folder: string): Promise<FileInfo[]> {
  const found: FileInfo[] = []
  await eachLine(client, folder, (line) => {
    const entry = entryOf(line)
    if (entry !== undefined) found.push(entry)
  })
  return found
}

/** The entries of these names. Other lines are not parsed, which costs much more than reading them. */
export async function entriesNamed(
  client: Client,
  folder: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, FileInfo>> {
  const found = new Map<string, FileInfo>()
  await eachLine(client, folder, (line) => {
    const name = names.find((one) => line.endsWith(one) && !found.has(one))
    const entry = name === undefined ? undefined : entryOf(line)
    if (entry !== undefined && entry.name === name) found.set(entry.name, entry)
  })
  return found
}

/** @throws TransferError, also when the server writes its lists in an unknown form. */
async function eachLine(
  client: Client,
  folder: string,
  look: (line: string) => void,
): Promise<void> {
  const path = folder === '.' ? '' : await client.protectWhitespace(folder)
  let last: string | undefined
  const lookAt = (line: string) => {
    if (line.trim() === '') return
    last = line
    look(line)
  }
  let refusal: unknown
  for (const name of client.availableListCommands) {
    try {
      await request(client, path === '' ? name : `${name} ${path}`, lookAt)
      if (last !== undefined && !isReadable(last)) {
        throw new TransferError('protocol', 'the server writes its lists in an unknown form')
      }
      client.availableListCommands = [name]
      return
    } catch (error) {
      // A server that does not know the command sends no line.
      if (!(error instanceof FTPError) || last !== undefined) throw error
      refusal = error
    }
  }
  throw refusal
}

/** Sends one command. A list that is not read to its end ends the connection. */
async function request(
  client: Client,
  command: string,
  look: (line: string) => void,
): Promise<void> {
  const { ftp } = client
  await client.prepareTransfer(ftp)
  const data = ftp.dataSocket!
  let reading: Promise<void> | undefined
  try {
    await ftp.handle(command, (answer, task) => {
      if (answer instanceof Error) return task.reject(answer)
      if (answer.code >= 300) {
        return task.reject(new TransferError('protocol', 'the server asks instead of listing'))
      }
      if (reading === undefined) {
        reading = readLines(data, look)
        reading.catch((error: Error) => task.reject(error))
      }
      if (answer.code >= 200) reading.then(() => task.resolve(answer)).catch(() => {})
    })
    ftp.dataSocket = undefined
  } catch (error) {
    if (!(error instanceof FTPError)) client.close()
    throw error
  }
}

async function readLines(data: AsyncIterable<Buffer>, look: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let count = 0
  let rest = ''
  for await (const chunk of data) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    count += lines.length
    if (count > mostEntries) throw tooMany()
    if (rest.length > longestLine || lines.some((line) => line.length > longestLine)) {
      throw new TransferError('protocol', 'the server writes its lists in an unknown form')
    }
    for (const line of lines) look(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  look(rest)
}

function entryOf(line: string): FileInfo | undefined {
  try {
    return parseList(line)[0]
  } catch {
    return undefined
  }
}

function isReadable(line: string): boolean {
  try {
    parseList(line)
    return true
  } catch {
    return false
  }
}
