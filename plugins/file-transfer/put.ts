/** The steps by which a file gets to a folder: the same for every protocol. */
import { type OutgoingFile, type Put, TransferError } from '@tollgate/plugin-kit'

/** What a protocol does with paths of one folder. */
export type Remote = {
  /** Undefined: there is no such file. Every other failure is thrown. */
  sizeOf(path: string): Promise<number | undefined>
  /** Replaces a file. Ends when the server has confirmed the last byte. */
  write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Whether the folder has one of these names. @throws TransferError when there is no such folder. */
  hasAny(names: readonly string[]): Promise<boolean>
}

/**
 * Puts a file into the folder, at most once however often it is called.
 *
 * @param place the path of a name in the folder
 */
export async function put(
  remote: Remote,
  place: (name: string) => string,
  file: OutgoingFile,
): Promise<Put> {
  const final = place(file.name)
  const part = place(`${file.name}.part`)
  const found = await remote.sizeOf(final)
  if (found === file.bytes) return 'was-there'
  if (found !== undefined) throw nameTaken(file, found)
  // A complete part is never written again: its new name may be on its way, and readers would meet a file
  // that is being written.
  const left = file.isRenaming ? await remote.sizeOf(part) : undefined
  if (file.isRenaming && left === undefined) {
    // A folder that is missing, or hides its files, proves nothing about a reader.
    if (!(await remote.hasAny([file.name, `${file.name}.part`]))) return 'was-taken'
    throw new TransferError('folder', `the server does not tell the size of ${file.name}`)
  }
  if (left !== file.bytes) await write(remote, part, file)
  await file.renaming()
  try {
    await remote.rename(part, final)
  } catch (error) {
    if (isLost(error)) throw error
    // Some servers answer a rename that they carried out with an error.
    const now = await remote.sizeOf(final)
    if (now === file.bytes) return 'stored'
    if (now !== undefined) throw nameTaken(file, now)
    throw error
  }
  return 'stored'
}

async function write(remote: Remote, part: string, file: OutgoingFile): Promise<void> {
  await remote.write(part, counted(file))
  const written = await remote.sizeOf(part)
  if (written === file.bytes) return
  throw new TransferError(
    'not-stored',
    `the server stored ${written ?? 0} of ${file.bytes} bytes of ${file.name}.part`,
  )
}

/** The bytes of a file; their end is an error when there are more or fewer than announced. */
async function* counted({ name, bytes, open }: OutgoingFile): AsyncGenerator<Uint8Array> {
  let count = 0
  try {
    for await (const chunk of open()) {
      count += chunk.length
      yield chunk
    }
  } catch (cause) {
    throw new TransferError('source', `the stored bytes of ${name} cannot be read`, { cause })
  }
  if (count === bytes) return
  throw new TransferError('source', `${name} has ${count} stored bytes instead of ${bytes}`)
}

/** After these the server may have done more than its answers say. */
function isLost(error: unknown): boolean {
  return TransferError.is(error) && ['timeout', 'closed', 'aborted'].includes(error.code)
}

function nameTaken({ name, bytes }: OutgoingFile, found: number): TransferError {
  return new TransferError(
    'name-taken',
    `the folder has another file named ${name}, of ${found} instead of ${bytes} bytes: move it away`,
  )
}

/** The path of a name in a folder. @throws TransferError for a name that leads elsewhere. */
export function placeIn(folder: string): (name: string) => string {
  const base = folder === '.' || folder === '' ? '' : folder.endsWith('/') ? folder : `${folder}/`
  return (name) => {
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/.test(name)) {
      throw new TransferError('protocol', `"${name.slice(0, 60)}" is no name of a file`)
    }
    return `${base}${name}`
  }
}
