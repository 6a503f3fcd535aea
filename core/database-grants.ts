/** The two users of the database, and their rights to the tables. */
import type pg from 'pg'
import type { Database } from './db/database.ts'

export const rolesOf = ({ schema }: Database) => ({
  migrating: `${schema}_migrating`,
  running: `${schema}_running`,
})

export const schemasOf = ({ schema }: Database) => [schema, `${schema}_boss`]

/** Functions that change tables in the running user's place, each of a fixed thing only. */
const byOwner = [
  'create_partition(text, timestamptz)',
  'create_partitions(timestamptz, integer)',
  'drop_steps(timestamptz)',
  'drop_deliveries(timestamptz)',
  'hold_audit_head()',
  'add_audit_links(bigint, uuid, uuid[], bytea[], bytea)',
]

/** Append-only tables of the running user, and tables that only the migrating user writes. */
const appendOnly = ['audit']
const readOnly = ['migration', 'audit_link', 'audit_head']

export function grants(database: Database): string {
  const { migrating, running } = rolesOf(database)
  const both = schemasOf(database).join(', ')
  return `
do $$ begin execute format('grant connect on database %I to ${running}', current_database()); end $$;
grant usage on schema ${both} to ${running};
revoke truncate, references, trigger on all tables in schema ${both} from ${running};
grant select, insert, update, delete on all tables in schema ${both} to ${running};
grant usage, select, update on all sequences in schema ${both} to ${running};
grant execute on all functions in schema ${both} to ${running};
alter default privileges for role ${migrating} in schema ${both}
  grant select, insert, update, delete on tables to ${running};
alter default privileges for role ${migrating} in schema ${both}
  grant usage, select, update on sequences to ${running};
${appendOnly.map((table) => `revoke update, delete on tollgate.${table} from ${running};`).join('\n')}
${readOnly.map((table) => `revoke insert, update, delete on tollgate.${table} from ${running};`).join('\n')}
${byOwner
  .map(
    (name) => `alter function tollgate.${name} security definer;
alter function tollgate.${name} set search_path = pg_catalog, pg_temp;
revoke execute on function tollgate.${name} from public;
grant execute on function tollgate.${name} to ${running};`,
  )
  .join('\n')}
revoke execute on function tollgate.forget_audit(bigint) from public, ${running};`
}

/**
 * Grants the running user, where one exists, access to the tables of a migration. The running user itself grants
 * nothing: nobody but the owner of the schema has what to grant.
 */
export async function grantRunning(database: Database, pool: pg.Pool): Promise<void> {
  const { running } = rolesOf(database)
  const { rowCount } = await pool.query(
    `select from pg_roles as role
     join pg_namespace as schema on schema.nspname = '${database.schema}'
     where role.rolname = $1 and pg_has_role(current_user, schema.nspowner, 'usage')
       and has_table_privilege(role.oid, '${database.schema}.payment', 'insert')`,
    [running],
  )
  if (rowCount === 1) await pool.query(database.rewrite(grants(database)))
}
