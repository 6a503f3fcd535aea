/** A program whose libraries change how pg reads values: prints a life of a payment. */
import pg from 'pg'
import { startGateway } from '../../rig/gateway.ts'
import { lifeOf } from './payment-life.ts'

const oids = [16, 17, 20, 21, 23, 26, 114, 701, 1009, 1016, 1114, 1184, 1231, 1700, 2950, 3802]

const run = await startGateway({
  cloned: false,
  through: async (url) => {
    for (const oid of oids) pg.types.setTypeParser(oid, (value) => `changed ${value}`)
    return url
  },
})
console.log(JSON.stringify(await lifeOf(run)))
for (const oid of oids) pg.types.setTypeParser(oid, String)
await run.close()
