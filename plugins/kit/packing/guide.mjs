/** Puts the guide of connector authors into the package: those who work offline read it beside the types. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const kit = path.join(import.meta.dirname, '..')
const docs = path.join(kit, '../../docs')
const pages = ['connectors.md', 'connector-in-an-hour.md']
const online = 'https://github.com/tollgate-payments/tollgate/blob/main/docs/'

mkdirSync(path.join(kit, 'guide'), { recursive: true })
for (const page of pages) {
  const text = readFileSync(path.join(docs, page), 'utf8').replaceAll(
    /\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g,
    (link, target, place = '') =>
      pages.includes(target) ? link : `](${new URL(target, online)}${place})`,
  )
  const file = path.join(kit, 'guide', page)
  // Several packings at once must not see half a page.
  writeFileSync(`${file}.${process.pid}`, text)
  renameSync(`${file}.${process.pid}`, file)
}
