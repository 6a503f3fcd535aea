import { type Format, type Group, group, type Row } from '@tollgate/schemas'

/** Constants of rows: `R` required, `O` optional; `request` as every setting; `secret` sealed, `none` shown to operators. */
export { integer, match, none, O, oneOf, R, request, secret } from '@tollgate/schemas'

type ValueOf<Wanted extends Format> = Wanted extends { kind: 'flag' }
  ? boolean
  : Wanted extends { kind: 'integer' }
    ? number
    : Wanted extends { kind: 'choice'; of: readonly (infer V)[] }
      ? V
      : string

/** The object described by a settings table: required rows are always present. */
export type SettingsOf<Rows extends readonly Row[]> = {
  readonly [Name in Extract<
    Rows[number],
    readonly [string, Format, 'R', ...unknown[]]
  >[0]]: ValueOf<Extract<Rows[number], readonly [Name, ...unknown[]]>[1]>
} & {
  readonly [Name in Exclude<
    Rows[number],
    readonly [string, Format, 'R', ...unknown[]]
  >[0]]?: ValueOf<Extract<Rows[number], readonly [Name, ...unknown[]]>[1]>
}

/** A table of settings: a group of fields with the types of its rows. */
export type Settings<Rows extends readonly Row[] = readonly Row[]> = Group & { readonly rows: Rows }

/**
 * A table of settings, of an installation (`config`) or of one merchant account (`account`). Rows of
 * class `secret` are sealed at rest and never logged.
 */
export function settings<const Rows extends readonly Row[]>(
  title: string,
  rows: Rows,
): Settings<Rows> {
  return { ...group('', title, rows), rows }
}
