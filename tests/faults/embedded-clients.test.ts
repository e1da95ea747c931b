import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { submit } from '../support/an-order.ts'
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
  ['psql', ['-c', '\\copy "Quvera_Lease" TO STDOUT'], /^$/],
  ['psql', ['-c', 'SET idle_session_timeout TO 1', '-c', 'SELECT 5'], /5/],
  ['vacuumdb', ['--analyze', 'postgres'], /vacuuming database/],
  ['pg_dump', [], /version mismatch|CREATE TABLE/],
])('%s %j is served, and the site stores orders after it as before', async (program, args, output) => {
  expect(await ask(program, ...args)).toMatch(output)
  expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})
