// @ts-expect-error The file has no types.
import textParsers from 'pg-types/lib/textParsers.js'
import type * as pg from './pg-types.ts'

type Parser = (value: string) => unknown

/** The parsers that pg itself begins with. Those of `pg.types` are a global that any library may change. */
const parsers = new Map<number, Parser>()
textParsers.init((oid: number, parser: Parser) => parsers.set(oid, parser))

const typesOf = (all: ReadonlyMap<number, Parser>) =>
  ({ getTypeParser: (oid: number) => all.get(oid) ?? String }) as pg.CustomTypesConfig

const int8 = 20
const uuid = 2950
const uuids = 2951

/** For libraries, which expect the types of pg. */
export const plainTypes = typesOf(parsers)

/** Ids travel as 32 hex characters everywhere outside Postgres, and int8 as bigint. */
export const wireTypes = typesOf(
  new Map(parsers)
    .set(uuid, (value) => value.replaceAll('-', ''))
    .set(uuids, (value) => value.replaceAll('-', '').match(/[0-9a-f]{32}/g) ?? [])
    .set(int8, BigInt),
)
