import { type Sql, sql } from './sql.ts'

/** Postgres types that a grouped row may hold. */
export type ColumnType =
  | 'uuid'
  | 'text'
  | 'bigint'
  | 'integer'
  | 'boolean'
  | 'timestamptz'
  | 'jsonb'
  | 'bytea'

export type Columns = Readonly<Record<string, ColumnType>>

type ValueOf<Type extends ColumnType> = Type extends 'bigint'
  ? bigint | number | null
  : Type extends 'integer'
    ? number | null
    : Type extends 'boolean'
      ? boolean | null
      : Type extends 'timestamptz'
        ? Date | null
        : Type extends 'bytea'
          ? Buffer | null
          : string | null

/** A row of a grouped statement. A `jsonb` value is JSON text that is ready to send. */
export type RowOf<Given extends Columns> = {
  readonly [Name in keyof Given]: ValueOf<Given[Name]>
}

/**
 * One statement over the rows `given`, written once and run in two forms: for a single row with plain
 * parameters, for many rows with one JSON parameter. The body must return `id` of the rows it moved.
 */
export type GroupStatement<Given extends Columns, Moved extends { id: string }> = {
  readonly name: string
  readonly columns: Given
  readonly one: (row: RowOf<Given>) => Sql<Moved>
  readonly many: (rows: readonly RowOf<Given>[]) => Sql<Moved>
}

/**
 * A condition that is true for every id, as a hint: the planner expects a hundred rows from JSON, but one
 * row after a range condition. For a hundred, it would read a whole table that was small at planning time.
 */
export const fewIds = sql`id between '00000000-0000-0000-0000-000000000000' and 'ffffffff-ffff-ffff-ffff-ffffffffffff'`

export function grouped<
  Given extends Columns & { readonly id: 'uuid' },
  Moved extends { id: string },
>(name: string, columns: Given, orderBy: string, body: Body): GroupStatement<Given, Moved> {
  const entries = Object.entries(columns)
  const oneStrings = ['with given as (select ']
  entries.forEach(([column, type], index) => {
    oneStrings.push(`::${type} as ${column}${index === entries.length - 1 ? ')' : ', '}`)
  })
  oneStrings.push(`${oneStrings.pop()}${body.texts[0]}`)
  body.pruned.forEach((column, index) => {
    oneStrings.push(`${oneStrings.pop()} and ${column} = `, `::uuid${body.texts[index + 1]}`)
  })
  const definition = entries.map(([column, type]) => `${column} ${type}`).join(', ')
  const manyStrings = [
    'with given as (select * from json_to_recordset(',
    `::json) as given(${definition}) where ${fewIds.strings[0]} order by ${orderBy})${body.texts.join('')}`,
  ]
  return {
    name,
    columns,
    one: (row) => ({
      strings: oneStrings,
      values: [
        ...entries.map(([column, type]) => parameter(row[column as keyof Given], type)),
        ...body.pruned.map(() => row.id),
      ],
    }),
    many: (rows) => ({ strings: manyStrings, values: [`[${rows.map(record).join(',')}]`] }),
  }

  function record(row: RowOf<Given>): string {
    let text = '{'
    for (const [column, type] of entries) {
      const value = row[column as keyof Given] as unknown
      if (value === null) continue
      if (text.length > 1) text += ','
      text += `"${column}":${json(value, type)}`
    }
    return `${text}}`
  }
}

/** The text of a grouped statement after its rows. */
export type Body = {
  readonly texts: readonly string[]
  /** Columns that hold the row's id, one between every two texts. */
  readonly pruned: readonly string[]
}

/**
 * A template that follows the rows of grouped(). A name between its texts is a column that equals the
 * row's id: for a single row, the parameter itself is repeated there, so that Postgres opens only the
 * partition of the row.
 */
export function body(texts: TemplateStringsArray, ...pruned: readonly string[]): Body {
  return { texts, pruned }
}

/** The same for a text made of parts. */
export function text(whole: string): Body {
  return { texts: [whole], pruned: [] }
}

function parameter(value: unknown, type: ColumnType): unknown {
  return type === 'bigint' && value !== null ? String(value) : value
}

function json(value: unknown, type: ColumnType): string {
  switch (type) {
    case 'bigint':
    case 'integer':
    case 'boolean':
      return String(value)
    case 'jsonb':
      return value as string
    case 'bytea':
      return `"\\\\x${(value as Buffer).toString('hex')}"`
    case 'timestamptz':
      return `"${(value as Date).toISOString()}"`
    default:
      return JSON.stringify(value)
  }
}
