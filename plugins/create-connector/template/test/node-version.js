// Plain JavaScript for any Node: an old one runs no test in TypeScript, and would only say that it finds none.
const needed = [22, 18]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `The tests need Node ${needed.join('.')} or later, this is ${process.versions.node}.`,
  )
  process.exitCode = 1
}
