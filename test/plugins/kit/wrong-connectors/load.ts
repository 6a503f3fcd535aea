/** State that simultaneous operations share. */
import { setImmediate } from 'node:timers/promises'
import type { Operation } from '@tollgate/plugin-kit'
import { around, type Wrong } from './changed-connector.ts'

/** The last operation, in a connector with state in its module. */
let last: Operation | undefined

export const loadMistakes: readonly Wrong[] = [
  {
    what: 'keeps the operation in a variable of the module',
    connector: around(
      (handler) => async (operation, context) => {
        last = operation
        await setImmediate()
        return handler(last, context)
      },
      ['authorize'],
    ),
    noticed: ['simultaneous payments do not affect each other'],
  },
]
