import { expect } from 'vitest'
import { atEnd } from './at-end.ts'
import { openTestDatabase } from './open-test-database.ts'
import { startServer } from './server-process.ts'
import { startTestApp } from './test-app.ts'
import { createTestDatabase } from './test-database.ts'

/** An empty database that no process has open. */
export async function aDatabase() {
  const { env, drop } = await createTestDatabase()
  atEnd(drop)
  return env
}

/** An empty database that this process has open: commands connect to it, which takes a tenth of the time of opening it. */
export async function anOpenDatabase() {
  const { env, close } = await openTestDatabase()
  atEnd(close)
  return env
}

/** A running site without a key, so that its mails wait, in this process. */
export async function aSite() {
  const { url, db, env, close } = await startTestApp({ mails: false })
  atEnd(close)
  return { url, db, database: env }
}

/** The same in a process of its own. */
export async function aSiteProcess() {
  const database = await aDatabase()
  const server = await aServer({ ...database, RATE_LIMIT_MAX: '0' })
  return { url: server.url, server, database }
}

/** A server process that ends with its test. */
export async function aServer(env: Record<string, string>, options?: { waitUntilReady: boolean }) {
  const server = await startServer(env, options)
  atEnd(() => server.stop('SIGKILL'))
  return server
}

/** What a server that cannot start says, and that it says it in words. */
export async function refusalToStart(env: Record<string, string>) {
  const server = await aServer(env, { waitUntilReady: false })
  const { code } = await server.exited
  expect(code).toBe(1)
  expect(server.stderr()).not.toMatch(/\n {4}at |node_modules/)
  return server.stderr().trim().split('\n')
}
