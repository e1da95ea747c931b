/*
 * What a test starts with; it ends with the test. `env` has the variables with which a process or a command reaches the
 * same database.
 *
 *   an empty database        aDatabase: closed · anOpenDatabase: open in this process
 *   an empty folder          aFolder (a-folder.ts): a DATA_DIR in which a site makes its own database
 *   a site in this process   anApp: with any options, through a fake Resend · aSite: without a key, so that mails wait
 *                            theApp: one for all tests of a file, emptied before each
 *   a server process         aServer: with any variables
 *   the built site           siteForTests, ownSiteForTests (visit.ts): for browsers, one for all tests of a file
 *   a site under faults      createFaultFixtures (fault-fixtures.ts): on a real PostgreSQL server
 */
import { afterAll, beforeEach, expect } from 'vitest'
import { atEnd } from './at-end.ts'
import { lockHolders } from './embedded-site.ts'
import { eventually } from './eventually.ts'
import { startFakeResend } from './fake-resend.ts'
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
  const { db, env, close } = await openTestDatabase()
  atEnd(close)
  return { db, env }
}

/** What answers as Resend does. */
export async function aResend() {
  const resend = await startFakeResend()
  atEnd(resend.close)
  return resend
}

/** A running site in this process, which sends through a fake Resend. */
export async function anApp(options: Parameters<typeof startTestApp>[0] = {}) {
  const app = await startTestApp(options)
  atEnd(app.close)
  return app
}

/** One for all tests of the file that calls this. It has no rows, mails or log lines when a test begins. */
export async function theApp(options: Parameters<typeof startTestApp>[0] = {}) {
  const app = await startTestApp(options)
  afterAll(app.close)
  beforeEach(app.reset)
  return app
}

/** The same without a key, so that its mails wait. */
export async function aSite() {
  const { url, db, env } = await anApp({ mails: false })
  return { url, db, env }
}

/** A server process that ends with its test. */
export async function aServer(env: Record<string, string>, options?: { waitUntilReady: boolean }) {
  const server = await startServer(env, options)
  atEnd(async () => {
    await server.stop('SIGKILL')
    // A PostgreSQL of its own ends by itself, and writes until then.
    if (env.DATA_DIR) await eventually(async () => expect(await lockHolders(env.DATA_DIR ?? '')).toEqual([]))
  })
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
