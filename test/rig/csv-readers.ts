/** Readers of RFC 4180, none of them by the author of the files: PostgreSQL's, and Python's where it is installed. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Rows of cells, read by PostgreSQL's COPY; an empty cell is ''. */
export async function readByPostgres(
  url: string,
  bytes: Uint8Array,
  columns: number,
): Promise<string[][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const names = Array.from({ length: columns }, (_, at) => `cell_${at}`)
    await client.query(
      `create temp table read (no serial, ${names.map((name) => `${name} text`).join(', ')})`,
    )
    const options = `format csv, delimiter ';', force_not_null (${names.join(', ')})`
    const copy = client.query(
      copyFrom(`copy read (${names.join(', ')}) from stdin with (${options})`),
    )
    copy.end(bytes)
    await once(copy, 'finish')
    const { rows } = await client.query({
      text: `select ${names.join(', ')} from read order by no`,
      rowMode: 'array',
    })
    return rows
  } finally {
    await client.end()
  }
}

const script = `
import csv, json, sys
sys.stdin.reconfigure(encoding='utf-8', newline='')
print(json.dumps(list(csv.reader(sys.stdin, delimiter=';', strict=True))))`

/** The same by Python's csv module; undefined: no Python is installed. */
export function readByPython(bytes: Uint8Array): string[][] | undefined {
  const { error, status, stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: bytes,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined
  if (status !== 0) throw new Error(`python3 could not read the file: ${stderr}`)
  return JSON.parse(stdout)
}
