import type { FieldClass, Group } from '../table.ts'

/** From harmless to never written. Where tables differ about a name, the stricter class holds. */
const strictness: readonly FieldClass[] = ['none', 'person', 'secret', 'pan', 'sad']

/** The class of every name in requests and answers, alternative spellings included. */
export function classesOf(groups: readonly Group[]): Map<string, FieldClass> {
  const classes = new Map<string, FieldClass>()
  for (const field of groups.flatMap((group) => group.fields)) {
    for (const name of [field.name, ...(field.options.aliases ?? [])]) {
      const known = classes.get(name) ?? 'none'
      const stricter = strictness.indexOf(field.class) > strictness.indexOf(known)
      classes.set(name, stricter ? field.class : known)
    }
  }
  return new Map([...classes].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The TypeScript module with the classes, for redaction and for the vault. */
export function classesModule(groups: readonly Group[]): string {
  const classes = classesOf(groups)
  const list = (wanted: FieldClass) =>
    [...classes].filter(([, one]) => one === wanted).map(([name]) => `  '${name}',\n`)
  return `// Made from the field tables by \`npm run generate\`. Not to be edited.
import type { FieldClass } from '../table.ts'

/** Class of every field by its name; \`[n]\` and \`[name]\` stand for any index and key. */
export const fieldClasses: Readonly<Record<string, FieldClass>> = {
${[...classes].map(([name, one]) => `  '${name}': '${one}',\n`).join('')}}

/** Personal data: redacted in logs. */
export const personFields: readonly string[] = [
${list('person').join('')}]

/** Account numbers: sealed in the vault, last four shown. */
export const panFields: readonly string[] = [
${list('pan').join('')}]

/** Sensitive authentication data: in memory only, never written, not even encrypted. */
export const sadFields: readonly string[] = [
${list('sad').join('')}]

/** Credentials: never logged or returned. */
export const secretFields: readonly string[] = [
${list('secret').join('')}]
`
}
