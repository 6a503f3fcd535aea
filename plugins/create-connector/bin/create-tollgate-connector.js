#!/usr/bin/env node
// Plain JavaScript for any Node: an old one gets a sentence instead of a syntax error.

const needed = [22, 18]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `create-tollgate-connector needs Node ${needed.join('.')} or later, this is ${process.versions.node}.`,
  )
  process.exitCode = 1
} else {
  import('#main').then(({ main }) => main(process.argv.slice(2)))
}
