import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { createDatabase, type Template } from './database.ts'

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function countedTemplate(): Template & { made: number } {
  return {
    name: `counted ${crypto.randomUUID()}`,
    made: 0,
    async make(url) {
      this.made += 1
      await on(url, (client) => client.query('create table greeting as select 1 as id'))
    },
  }
}

describe('databases of the tests', () => {
  test("a test's database is a clone of a template that is made once, and apart from others", async () => {
    const template = countedTemplate()
    const databases = await Promise.all([1, 2, 3].map(() => createDatabase(template)))
    assert.equal(template.made, 1)
    const [first, second] = databases
    assert.ok(first !== undefined && second !== undefined)
    await on(first.url, (client) => client.query('insert into greeting values (2)'))
    const rows = await on(second.url, (client) => client.query('select id from greeting'))
    assert.deepEqual(rows.rows, [{ id: 1 }])
    await Promise.all(databases.map((database) => database.drop()))
    await assert.rejects(
      on(first.url, (client) => client.query('select 1')),
      /does not exist/,
    )
  })

  test('a template that failed half-way is made again', async () => {
    const good = countedTemplate()
    const broken: Template = {
      name: good.name,
      async make(url) {
        await on(url, (client) => client.query('create table greeting ()'))
        throw new Error('the migration failed')
      },
    }
    await assert.rejects(createDatabase(broken), /the migration failed/)
    const database = await createDatabase(good)
    assert.equal(good.made, 1)
    await database.drop()
  })

  test('a test with a connection left open is told so, and its database is dropped', async () => {
    const database = await createDatabase()
    await on(database.url, async (client) => {
      await client.query("set application_name = 'forgotten pool'")
      await assert.rejects(database.drop(), /left connections.*forgotten pool/s)
    })
    await assert.rejects(
      on(database.url, (client) => client.query('select 1')),
      /does not exist/,
    )
  })
})
