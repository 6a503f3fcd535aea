const simulator = require('@tollgate/connector-simulator')
const tollgate = require('@tollgate/core')
const host = require('@tollgate/host')
const express = require('express')
const { openShop } = require('./open-shop.cjs')

openShop({
  tollgate,
  simulator: simulator.default,
  host,
  express,
  databaseUrl: process.env.DATABASE_URL,
  // Keep this secret outside the database: without it nobody can read the stored card numbers.
  keys: process.env.TOLLGATE_KEYS,
  port: Number(process.env.PORT ?? 3000),
}).then((shop) => {
  console.log(shop.url)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => shop.close())
})
