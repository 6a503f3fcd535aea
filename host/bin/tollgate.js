#!/usr/bin/env node
// Plain JavaScript for any Node: an old one gets a sentence instead of a syntax error.
import * as nodeModule from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

// Node opens its inspector on this signal, to whoever reaches the port: keys and card numbers are in memory.
process.on('SIGUSR1', () => {})

const needed = [22, 18]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `Tollgate needs Node ${needed.join('.')} or later, this is ${process.versions.node}. Inside the repository "npm start" and "npm run tollgate" bring their own.`,
  )
  process.exitCode = 1
} else {
  keepCompiledCode()
  import('#process').then(({ runHere }) => runHere(process))
}

/**
 * Compiled code stays beside the installed packages, which are trusted as much: in a folder for temporary files,
 * another user could replace it. A folder that cannot be written costs a quarter of a second at each start.
 */
function keepCompiledCode() {
  const [folder, rest] = fileURLToPath(import.meta.url).split(
    `${sep}@tollgate${sep}host${sep}bin${sep}`,
  )
  if (rest !== undefined) nodeModule.enableCompileCache(`${folder}${sep}.cache${sep}tollgate`)
}
