import simulator from '@tollgate/connector-simulator'
import * as tollgate from '@tollgate/core'
import * as host from '@tollgate/host'
import express from 'express'
import { openShop } from './open-shop.cjs'

const shop = await openShop({
  tollgate,
  simulator,
  host,
  express,
  databaseUrl: process.env.DATABASE_URL,
  // Keep this secret outside the database: without it nobody can read the stored card numbers.
  keys: process.env.TOLLGATE_KEYS,
  port: Number(process.env.PORT ?? 3000),
})
console.log(shop.url)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => shop.close())
