// A running site goes on serving, storing and mailing while a new build empties the folder of the site.
import { cp, mkdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { messages } from '../../shared/order.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aDatabase } from '../support/fixtures.ts'
import { startServer } from '../support/server-process.ts'

/** The built site in a folder of its own, which a new build may empty. */
async function aSiteInItsOwnFolder() {
  const folder = await aFolder('quvera-built-', tmpdir())
  await mkdir(join(folder, 'prisma'))
  await cp('prisma/roles.sql', join(folder, 'prisma/roles.sql'))
  await Promise.all(['dist', 'prisma/migrations'].map((path) => cp(path, join(folder, path), { recursive: true })))
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  const resend = await startFakeResend()
  atEnd(resend.close)
  const env = { ...(await aDatabase()), ...sendingThrough(resend), RATE_LIMIT_MAX: '0' }
  const server = await startServer(env, { root: folder })
  atEnd(() => server.stop('SIGKILL'))
  const { url } = server
  return { folder, url, resend }
}

it('a site goes on while a new build empties the folder that it was started from', async () => {
  const { folder, url, resend } = await aSiteInItsOwnFolder()
  await rm(join(folder, 'dist'), { recursive: true })

  const { submissionKey: _, ...fields } = anOrder()
  const post = async (changes: object) => {
    const answer = await postForm(url, { ...fields, ...changes })
    return answer.status === 303 ? fetch(url + answer.headers.get('location')) : answer
  }
  const stored = await post({})
  expect([stored.status, await stored.text()]).toEqual([200, expect.stringContaining(messages.received)])
  const refused = await post({ email: 'nobody' })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(messages.email)])
  expect((await submit(url, anOrder({ name: 'Rohan Mehta' }))).status).toBe(200)
  expect((await fetch(`${url}/privacy-policy`)).status).toBe(200)
  await eventually(() => expect(resend.mails).toHaveLength(4))
})
