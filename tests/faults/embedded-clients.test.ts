import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aClient } from '../support/a-client.ts'
import { submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { aUniqueOrder } from '../support/load.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

const run = promisify(execFile)

let folder: string
let server: ServerProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quvera-clients-'))
  server = await startServer({ DATA_DIR: folder, RATE_LIMIT_MAX: '0', LOG_LEVEL: 'warn' })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

/** What a program of PostgreSQL prints, whatever becomes of it. */
async function ask(program: string, ...args: string[]): Promise<string> {
  const all = ['-h', folder, '-U', 'postgres', ...args]
  const { stdout, stderr } = await run(program, all).catch((error: { stdout: string; stderr: string }) => error)
  return stdout + stderr
}

it.each<[string, string[], RegExp]>([
  ['psql', ['-c', '\\d'], /Quvera_Form/],
  ['psql', ['-c', "SET TIME ZONE 'Asia/Kolkata'", '-c', 'SELECT count(*) FROM "Quvera_Form"'], /\d+\n/],
  ['psql', ['-c', '\\copy "Quvera_Lease" FROM /dev/null'], /takes no rows by COPY FROM STDIN/],
  ['psql', ['-c', '\\copy "Quvera_Subscriber" TO STDOUT'], /^$/],
  ['psql', ['-c', 'SET idle_session_timeout TO 1', '-c', 'SELECT 5'], /5/],
  ['vacuumdb', ['--analyze', 'postgres'], /vacuuming database/],
  ['pg_dump', [], /version mismatch|CREATE TABLE/],
])('%s %j is served, and the site stores orders after it as before', async (program, args, output) => {
  expect(await ask(program, ...args)).toMatch(output)
  expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

it('a client that keeps a transaction open costs a 503 within seconds, stores nothing later, and no signal waits for it', async () => {
  const client = await aClient({ DATA_DIR: folder })
  await client.query('BEGIN')
  const order = aUniqueOrder()
  const started = performance.now()
  const answer = await submit(server.url, order)
  expect([answer.status, answer.message]).toEqual([503, 'Error adding document'])
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  expect(performance.now() - started).toBeLessThan(5000)
  await client.query('COMMIT')
  await eventually(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200))
  const { rows } = await client.query('SELECT FROM "Quvera_Form" WHERE "SubmissionKey" = $1', [order.submissionKey])
  expect(rows).toEqual([])
  expect((await submit(server.url, order)).status).toBe(200)
  const causes = [...server.stdout().matchAll(/"cause":"(\w+)"/g)].map(([, cause]) => cause)
  expect(causes).toEqual(['55P03'])

  await client.query('BEGIN')
  const refused = submit(server.url, aUniqueOrder()).catch(() => undefined)
  const signalled = performance.now()
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(performance.now() - signalled).toBeLessThan(8000)
  await refused
})
