#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`tollgate-simulator needs Node 22.18 or newer, this is ${process.version}\n`)
  process.exit(2)
}
const { main } = await import('#main')
await main(process.argv.slice(2))
