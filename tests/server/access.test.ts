// Every staff command that shows or changes personal data has a line in the access log, which itself holds none.
// The history of an enquiry holds each change of its status and note.
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatIndianTime } from '../../shared/indian-time.ts'
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
    const { reference = '' } = await submit(url, anOrder())
    await db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { status: 'Bounced' } }) // `mails` shows the visitor's address
    const { reference: another = '' } = await submit(url, anOrder())
    const folder = await aFolder('quvera-access-')
    const file = join(folder, 'backup.gz')
    await staff(['backup', file], env)
    for (const name of names) {
      if (WITHOUT_ACCESS.includes(name ?? '')) continue
      const args = {
        show: [reference],
        status: [reference, 'New'],
        note: [reference, 'x'],
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
      ['list'],
      ['show', reference],
      ['list', 'asha'],
      ['status', reference, 'Contacted'],
      ['note', reference, 'rings back'],
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
      ['list'],
    ])
      expect(await staff(command, env), command.join(' ')).toMatchObject({ code: 0 })
    expect((await lines(env)).map(({ command, what }) => `${command}: ${what}`)).toEqual([
      `list: ${reference}`,
      `show: ${reference}`,
      `list: ${reference}`,
      `status: ${reference}`,
      `note: ${reference}`,
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
      'list: 0 enquiries',
    ])
    await staff(['list'], { ...env, STAFF_NAME: 'meena' })
    const all = await onDatabase(env, (db) => db.access.findMany({ orderBy: { at: 'asc' } }))
    expect(JSON.stringify(all)).not.toMatch(/asha|98765/i)
    expect(all.slice(-2).map(({ who }) => who)).toEqual([`${userInfo().username}@${hostname()}`, `meena@${hostname()}`])
  })

  it('refuses changes, and deletions within a year', async () => {
    const { env } = await aSite()
    await staff(['list'], env)
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
    const { code, stdout, stderr } = await staff(['list'], { DATABASE_URL: url.href })
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
  it('holds each change of status and note, from the staff command and from psql, and is erased with the enquiry', async () => {
    const { url, db, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    await staff(['status', reference, 'Contacted'], env)
    await staff(['status', reference, 'Contacted'], env)
    await staff(['note', reference, 'rings back'], env)
    const client = await aClient(env)
    await client.query(`UPDATE "Quvera_Form" SET "Status" = 'Closed', "Note" = 'bought'`)
    await client.query(`UPDATE "Quvera_Form" SET "Name" = 'Asha V.'`)
    const role = env.DATABASE_URL ? 'postgres' : 'quvera_staff'
    const told = (await staff(['show', reference], env)).stdout.split('\n').filter((line) => line.includes('→'))
    const who = `${userInfo().username}@${hostname()}, ${role}`
    const day = formatIndianTime(new Date()).slice(0, 11)
    expect(told.map((line) => line.replace(/, \d\d \w{3} \d{4} \d\d:\d\d IST/, ''))).toEqual([
      `Status          New → Contacted, by ${who}`,
      `Note            - → ${day}: rings back, by ${who}`,
      `Status          Contacted → Closed, by ${role}`,
      `Note            ${day}: rings back → bought, by ${role}`,
    ])
    const person = JSON.parse((await staff(['export', '--person', anOrder().mobile], env)).stdout)
    expect(person.enquiries[0].History).toHaveLength(4)
    expect(person.enquiries[0].History[3]).toMatchObject({ Column: 'Note', After: 'bought' })
    await staff(['erase', reference, '--yes'], env)
    expect(await db.historyEntry.count()).toBe(0)
  })

  it('keeps of a removed note only who wrote and who removed it', async () => {
    const { url, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    for (const note of ['of somebody else', 'of somebody else, too', '', 'rings back'])
      await staff(['note', '--replace', reference, note], env)
    const { stdout } = await staff(['export', '--person', anOrder().email], env)
    expect(stdout).not.toContain('somebody else')
    expect(JSON.parse(stdout).enquiries[0]).toMatchObject({ Note: 'rings back', History: { length: 4 } })
    const shown = (await staff(['show', reference], env)).stdout
    expect(shown.match(/(?<=^Note +)\S.*(?=, \d\d \w{3} )/gm)).toEqual([
      ...Array(3).fill('of a note that was removed'),
      '- → rings back',
    ])
  })

  it('is in a backup, like the access log, and a restore adds nothing to it', async () => {
    const { url, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    await staff(['status', reference, 'Contacted'], env)
    const folder = await aFolder('quvera-access-')
    const file = join(folder, 'backup.gz')
    await staff(['backup', file], env)
    const { env: other } = await anOpenDatabase()
    await staff(['list'], other)
    expect(await staff(['restore', file], other)).toMatchObject({ code: 0 })
    const read = (env: Record<string, string>) => onDatabase(env, (db) => db.historyEntry.findMany())
    expect(await read(other)).toEqual(await read(env))
    expect(await lines(other)).toEqual([
      { command: 'status', what: reference },
      { command: 'backup', what: 'everything' },
      { command: 'list', what: '0 enquiries' },
      { command: 'restore', what: expect.stringMatching(/^\d+ rows$/) },
    ])
  })
})
