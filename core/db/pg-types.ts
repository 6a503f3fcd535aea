/**
 * The types of pg that the engine's own declarations name. A program that embeds the engine need not install
 * `@types/pg`: without it, they are `any` there, and nothing of the public interface uses them.
 */

// biome-ignore-start lint/suspicious/noTsIgnore: an expected error would be one wherever the types are installed.
/** @ts-ignore Only without `@types/pg`. */
export type Client = import('pg').Client
/** @ts-ignore Only without `@types/pg`. */
export type ClientBase = import('pg').ClientBase
/** @ts-ignore Only without `@types/pg`. */
export type ClientConfig = import('pg').ClientConfig
/** @ts-ignore Only without `@types/pg`. */
export type CustomTypesConfig = import('pg').CustomTypesConfig
/** @ts-ignore Only without `@types/pg`. */
export type Pool = import('pg').Pool
/** @ts-ignore Only without `@types/pg`. */
export type PoolClient = import('pg').PoolClient
/** @ts-ignore Only without `@types/pg`. */
export type QueryConfig = import('pg').QueryConfig
/** @ts-ignore Only without `@types/pg`. */
export type QueryResultRow = import('pg').QueryResultRow
// biome-ignore-end lint/suspicious/noTsIgnore: as above
