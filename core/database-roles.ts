/**
 * Two users of the database. One owns the tables and migrates them. The other one runs payments, and can
 * change neither tables nor rows of the audit trail.
 */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { newKeyBytes } from './crypto/cipher.ts'
import { grants, rolesOf, schemasOf } from './database-grants.ts'
import { type Client, Database, type DatabaseOptions } from './db/database.ts'
import { newToken } from './ids.ts'
import { lockNumber, MigrationError, migrateAll } from './migrate.ts'

export type DatabaseRole = {
  readonly name: string
  readonly does: 'migrates' | 'runs'
  /** Shown only once; undefined for an existing user. */
  readonly password: string | undefined
}

/**
 * Creates the two missing users, makes the migrating one the owner of all tables and grants their
 * use to the running one, all or nothing. Safe to run again. Requires a user with the right to create users.
 *
 * @throws MigrationError when an existing user may do more than its task; the database's own error
 */
export async function makeRoles(options: DatabaseOptions): Promise<DatabaseRole[]> {
  const database = new Database(options)
  try {
    const pool = database.pool(1, 'roles', { lock_timeout: '5s' })
    await migrateAll(database)
    const { migrating, running } = rolesOf(database)
    return await database.transaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
      const roles: DatabaseRole[] = [
        { name: migrating, does: 'migrates', password: await makeUser(client, migrating) },
        { name: running, does: 'runs', password: await makeUser(client, running) },
      ]
      await refuseTooMighty(client, { running, migrating })
      await client.query(database.rewrite(handOver(database)))
      await client.query(database.rewrite(grants(database)))
      return roles
    })
  } finally {
    await database.close()
  }
}

async function makeUser(client: Client, name: string): Promise<string | undefined> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name])
  if (rowCount === 1) return undefined
  const password = newToken()
  // The statement contains only the verifier of the password, since the server's log may show it.
  await client.query(`create role ${name} login password '${verifier(password)}'`)
  return password
}

/** An existing user that may do more than its task would not protect the audit trail. */
async function refuseTooMighty(
  client: Client,
  { running, migrating }: ReturnType<typeof rolesOf>,
): Promise<void> {
  const { rows } = await client.query<{ mighty: string }>(
    `select 'has the attribute ' || power as mighty
     from pg_roles as role
     cross join lateral (values
       ('superuser', rolsuper), ('createrole', rolcreaterole), ('createdb', rolcreatedb),
       ('replication', rolreplication), ('bypassrls', rolbypassrls)) as power (power, is_held)
     where rolname = $1 and is_held
     union all
     select 'is a member of ' || held.rolname
     from pg_roles as held
     where held.rolname <> $1
       and (held.rolname = $2 or held.rolsuper or held.rolname like 'pg\\_%')
       and pg_has_role($1, held.oid, 'member')`,
    [running, migrating],
  )
  if (rows.length === 0) return
  const why = rows.map(({ mighty }) => mighty).join(', ')
  throw new MigrationError(
    `The user ${running} ${why}, and so may do more than run payments. Take that from it, or drop the user, and run this again.`,
  )
}

/** The form in which PostgreSQL stores a password: SCRAM-SHA-256 by RFC 5803. */
function verifier(password: string): string {
  const salt = newKeyBytes().subarray(0, 16)
  const rounds = 4096
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256')
  const keyFor = (name: string) => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyFor('Client Key')).digest('base64')
  const server = keyFor('Server Key').toString('base64')
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${server}`
}

/**
 * Everything in both schemas belongs to the migrating user. Only what has another owner is changed: each change locks
 * its table against everybody, and running engines would meet these locks.
 */
function handOver(database: Database): string {
  const { migrating } = rolesOf(database)
  const schemas = schemasOf(database)
  const isForeign = (owner: string) => `pg_get_userbyid(${owner}) <> '${migrating}'`
  return `
do $$
declare
  command text;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant ${migrating} to %I', current_user);
  end if;
  if not has_database_privilege('${migrating}', current_database(), 'create') then
    execute format('grant connect, create on database %I to ${migrating}', current_database());
  end if;
  for command in
    select format('alter schema %I owner to ${migrating}', nspname)
    from pg_namespace
    where nspname in (${schemas.map((name) => `'${name}'`).join(', ')}) and ${isForeign('nspowner')}
    union all
    select format('alter table %s owner to ${migrating}', relation.oid::regclass)
    from pg_class as relation
    where relation.relnamespace in (${schemas.map((name) => `'${name}'::regnamespace`).join(', ')})
      and relation.relkind in ('r', 'p', 'v', 'm', 'S') and ${isForeign('relation.relowner')}
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = relation.oid and deptype in ('a', 'i')
          and relation.relkind = 'S')
    union all
    select format('alter routine %s owner to ${migrating}', routine.oid::regprocedure)
    from pg_proc as routine
    where routine.pronamespace in (${schemas.map((name) => `'${name}'::regnamespace`).join(', ')})
      and ${isForeign('routine.proowner')}
    union all
    select format('alter type %s owner to ${migrating}', kind.oid::regtype)
    from pg_type as kind
    where kind.typnamespace in (${schemas.map((name) => `'${name}'::regnamespace`).join(', ')})
      and kind.typtype in ('e', 'd') and ${isForeign('kind.typowner')}
  loop
    execute command;
  end loop;
end
$$`
}
