// The lines of docs/backup.md bring a site onto a restored backup, and then to PostgreSQL, with every enquiry.
// Not in `npm test`: it types lines of a document, and needs a PostgreSQL server.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough } from '../support/fake-resend.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { aServer } from '../support/fixtures.ts'
import { runShell, staff } from '../support/staff-command.ts'

const { setUp } = createFaultFixtures()

/** What the lines for containers give to the staff command. */
const LINE = /^.*docker (?:compose|exec|run) .*node dist\/server\/staff\.js (.*?)(?: && docker .*)?(?: +#.*)?$/gm
const given = [...readFileSync('docs/backup.md', 'utf8').matchAll(LINE)].map(([, words]) => words)

it.skipIf(!existsSync('/usr/lib/postgresql'))('a restored backup, and a move to PostgreSQL, keep all', async () => {
  const folder = await aFolder('quvera-move-')
  async function type(words: string, env: Record<string, string>) {
    expect(given).toContain(words)
    const program = `f=quvera-backup.sql.gz; node ${process.cwd()}/dist/server/staff.js`
    const line = `cd ${folder} && ${program} ${words.replaceAll('/root', folder)}`
    expect(await runShell(line, env)).toMatchObject({ code: 0 })
  }
  /** Starts the site on a database, which has these enquiries and gets one more. */
  async function visit(env: Record<string, string>, references: string[], until = async () => {}) {
    const site = await aServer(env)
    expect((await staff(['export'], env)).stdout.match(/QV-\w{6}/g) ?? []).toEqual(references)
    const { reference = '' } = await submit(site.url, anOrder())
    await until()
    await site.stop()
    return [...references, reference]
  }
  const siteIn = (name: string) => ({ DATA_DIR: join(folder, name), STAFF_EMAILS: STAFF })
  const [data, restored] = [siteIn('data'), siteIn('restored')]
  const { databaseUrl: DATABASE_URL, resend } = await setUp()
  const first = await visit(data, [])
  await type('backup - > $f.part && mv $f.part $f', data)
  await type('restore - < /root/quvera-backup.sql.gz', restored)
  const second = await visit(restored, first)
  await type('backup - > /root/move.gz', restored)
  await type('restore --moved - < /root/move.gz', { DATABASE_URL })
  // What was pending at the restore is withheld; what was at the move is sent, and that of a new enquiry.
  const bothAreSent = () =>
    eventually(() => {
      const receivers = resend.mails.filter(({ subject }) => subject.includes('QV-')).map(({ to }) => to[0])
      expect(receivers.sort()).toEqual([...Array(2).fill(anOrder().email), STAFF, STAFF])
    })
  await visit({ DATABASE_URL, ...sendingThrough(resend) }, second, bothAreSent)
})
