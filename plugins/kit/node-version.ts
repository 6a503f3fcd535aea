/** Evaluated before everything else: an old Node gets a sentence here, and a syntax error elsewhere. */
const needed = [22, 18] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  throw new Error(
    `Tollgate needs Node ${needed.join('.')} or later, this is ${process.versions.node}.`,
  )
}
