// Every staff command that shows or changes personal data has a line in the access log, which itself holds none.
// The history of an enquiry holds each change of its status and note.
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aClient } from '../support/a-client.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { aDatabase, anOpenDatabase, aSite } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'

const lines = (env: Record<string, string>) =>
  onDatabase(env, (db) => db.access.findMany({ orderBy: { at: 'asc' }, select: { command: true, what: true } }))

/** Commands that show and change nothing of a person. Every other one has its line in the access log, and stands below. */
const WITHOUT_ACCESS = ['help', 'migrate', 'check']

describe('the access log', () => {
  it('has a line of every command that shows or changes personal data', async () => {
    const { stdout } = await staff(['--help'], {})
    const names = [...stdout.matchAll(/^ {2}([a-z-]+)(?: [[<][^\n]*?)? {2,}\S/gm)].map(([, name]) => name)
    expect(names).toContain('export')
    const { url, env, db } = await aSite()
    await submit(url, anOrder())
    await db.mail.updateMany({
      where: { kind: 'Acknowledgement' },
      data: { status: 'Bounced', dueAt: null, sentAt: new Date() },
    }) // `mails` shows the visitor's address
    const { reference: another = '' } = await submit(url, anOrder())
    const folder = await aFolder('quvera-access-')
    const file = join(folder, 'backup.gz')
    await staff(['backup', file], env)
    for (const name of names) {
      if (WITHOUT_ACCESS.includes(name ?? '')) continue
      const args = {
        erase: [another, '--yes'],
        backup: ['-'],
        restore: [file],
      }[name ?? '']
      const used = name === 'restore' ? (await anOpenDatabase()).env : env
      const before = name === 'restore' ? 0 : await db.access.count()
      await staff([name ?? '', ...(args ?? [])], used)
      const after = await onDatabase(used, (each) => each.access.findMany())
      expect(after.length, name).toBeGreaterThan(before)
      expect(after.at(-1)?.command).toBe(name)
    }
  })

  it('holds references or numbers of rows, and no personal data', async () => {
    const { url, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    await call(url, 'subscription.subscribe', { email: 'b@b.in' })
    for (const command of [
      ['export'],
      ['export', '--person', anOrder().email],
      ['export', '--person', 'b@b.in'],
      ['subscribers', '--csv'],
      ['subscribers'],
      ['subscribers', '--remove', 'a@b.in'],
      ['backup', '-'],
      ['erase', reference],
      ['erase', reference, '--yes'],
      ['erase', '--person', anOrder().email],
      ['check'],
      ['export'],
    ])
      expect(await staff(command, env), command.join(' ')).toMatchObject({ code: 0 })
    expect((await lines(env)).map(({ command, what }) => `${command}: ${what}`)).toEqual([
      `export: ${reference}`,
      `export: ${reference}`,
      'export: 0 enquiries and 1 subscription',
      'subscribers: 0 subscriptions',
      'subscribers: 1 subscription',
      'subscribers: 0 subscriptions',
      'backup: everything',
      'erase: only shown: 1 enquiry with 2 mails and 0 subscriptions',
      'erase: 1 enquiry with 2 mails and 0 subscriptions',
      'erase: only shown: 0 enquiries with 0 mails and 0 subscriptions',
      'export: 0 enquiries',
    ])
    await staff(['export'], { ...env, STAFF_NAME: 'meena' })
    const all = await onDatabase(env, (db) => db.access.findMany({ orderBy: { at: 'asc' } }))
    expect(JSON.stringify(all)).not.toMatch(/asha|98765/i)
    expect(all.slice(-2).map(({ who }) => who)).toEqual([`${userInfo().username}@${hostname()}`, `meena@${hostname()}`])
  })

  it('refuses changes, and deletions within a year', async () => {
    const { env } = await aSite()
    await staff(['export'], env)
    const client = await aClient(env)
    for (const statement of [
      `UPDATE "Quvera_Access" SET "Who" = 'nobody'`,
      'DELETE FROM "Quvera_Access"',
      'TRUNCATE "Quvera_Access"',
    ])
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
    await client.query(
      `INSERT INTO "Quvera_Access" ("At", "Who", "Command", "What") VALUES (now() - interval '366 days', 'old', 'list', ''), (now() - interval '364 days', 'young', 'list', '')`,
    )
    await client.query(`DELETE FROM "Quvera_Access" WHERE "Who" = 'old'`)
    const { rows } = await client.query(`SELECT "Who" FROM "Quvera_Access" WHERE "Who" IN ('old', 'young')`)
    expect(rows).toEqual([{ Who: 'young' }])
  })

  it('does not stop a command when its line cannot be written, which the command reports', async () => {
    const env = await aDatabase()
    await onDatabase(env, (db) => storeEnquiry(db))
    const url = new URL(env.DATABASE_URL ?? '')
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const { code, stdout, stderr } = await staff(['export'], { DATABASE_URL: url.href })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^This access could not be recorded in the access log \(Quvera_Access\): [^\n]*read-only[^\n]*\n$/,
      ),
    })
    expect(stdout).toContain('Asha Verma')
  })
})

describe('the history of an enquiry', () => {
  it('holds each change of status, note and spam mark with who made it, and is erased with the enquiry', async () => {
    const { url, db, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    const client = await aClient(env)
    await client.query(`SET quvera.who = 'asha@quvera.test'`)
    await client.query(`UPDATE "Quvera_Form" SET "Status" = 'Contacted', "Note" = 'rings back'`)
    await client.query(`UPDATE "Quvera_Form" SET "Status" = 'Contacted'`)
    await client.query('RESET quvera.who')
    await client.query(`UPDATE "Quvera_Form" SET "Status" = 'Closed', "Name" = 'Asha V.'`)
    const history = await db.historyEntry.findMany({ orderBy: { id: 'asc' } })
    expect(history.map(({ who, column, before, after }) => [who, column, before, after])).toEqual([
      ['asha@quvera.test', 'Status', 'New', 'Contacted'],
      ['asha@quvera.test', 'Note', null, 'rings back'],
      [null, 'Status', 'Contacted', 'Closed'],
    ])
    const person = JSON.parse((await staff(['export', '--person', anOrder().mobile], env)).stdout)
    expect(person.enquiries[0].History).toHaveLength(3)
    await staff(['erase', reference, '--yes'], env)
    expect(await db.historyEntry.count()).toBe(0)
  })

  it('keeps of a removed note only who wrote and who removed it', async () => {
    const { url, env } = await aSite()
    await submit(url, anOrder())
    const client = await aClient(env)
    for (const note of ['of somebody else', 'of somebody else, too', null, 'rings back'])
      await client.query(`UPDATE "Quvera_Form" SET "Note" = $1`, [note])
    const { stdout } = await staff(['export', '--person', anOrder().email], env)
    expect(stdout).not.toContain('somebody else')
    expect(JSON.parse(stdout).enquiries[0]).toMatchObject({ Note: 'rings back', History: { length: 4 } })
  })

  it('is in a backup, like the access log, and a restore adds nothing to it', async () => {
    const { url, db, env } = await aSite()
    await submit(url, anOrder())
    await db.$executeRaw`UPDATE "Quvera_Form" SET "Status" = 'Contacted'`
    const folder = await aFolder('quvera-access-')
    const file = join(folder, 'backup.gz')
    await staff(['backup', file], env)
    const { env: other } = await anOpenDatabase()
    await staff(['export'], other)
    expect(await staff(['restore', file], other)).toMatchObject({ code: 0 })
    const read = (env: Record<string, string>) => onDatabase(env, (db) => db.historyEntry.findMany())
    expect(await read(other)).toEqual(await read(env))
    expect(await lines(other)).toEqual([
      { command: 'backup', what: 'everything' },
      { command: 'export', what: '0 enquiries' },
      { command: 'restore', what: expect.stringMatching(/^\d+ rows$/) },
    ])
  })
})
