import { TransferError } from '@tollgate/plugin-kit'

/** Entries of a folder that are read: a server could name more and more of them without an end. */
export const mostEntries = 100_000

export const tooMany = () =>
  new TransferError('folder', `the folder has more than ${mostEntries} entries`)
