// Every staff command that shows or changes personal data has a line in the access log, which itself holds none.
// The history of an enquiry holds each change of its status and note; what becomes of them at the desk: desk-actions.test.ts.
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aClient } from '../../support/a-client.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { callDesk, enterDesk } from '../../support/desk.ts'
import { aDatabase, anOpenDatabase, aSite } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../../support/stored-enquiry.ts'

/** Commands that show and change nothing of a person. Every other one has its line in the access log. */
const WITHOUT_ACCESS = ['help', 'migrate', 'check']

describe('the access log', () => {
  it('has a line of every command that shows or changes personal data', async () => {
    const { stdout } = await staff(['--help'], {})
    const names = [...stdout.matchAll(/^ {2}([a-z-]+)(?: [[<][^\n]*?)? {2,}\S/gm)].map(([, name = '']) => name)
    expect(names).toContain('export')
    const { url, env, db } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    await db.mail.updateMany({ data: { status: 'Failed', dueAt: null } }) // `mails` shows a visitor to ring
    const file = join(await aFolder('quvera-access-'), 'backup.gz')
    await staff(['backup', file], env)
    const words: Record<string, string[]> = { erase: [reference], backup: ['-'], restore: [file] }
    for (const name of names.filter((each) => !WITHOUT_ACCESS.includes(each))) {
      const used = name === 'restore' ? (await anOpenDatabase()).env : env
      const lines = () => onDatabase(used, (each) => each.access.findMany({ orderBy: { at: 'asc' } }))
      const before = name === 'restore' ? [] : await lines()
      await staff([name, ...(words[name] ?? [])], used)
      const after = await lines()
      expect(after.length, name).toBeGreaterThan(before.length)
      expect(after.at(-1)?.command).toBe(name)
    }
  })

  it('holds who, and references or numbers of rows, and no personal data', async () => {
    const { url, env, db } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    await call(url, 'subscription.subscribe', { email: 'b@b.in' })
    for (const words of [
      ...['export', `export --person ${anOrder().email}`, 'export --person b@b.in'],
      ...['subscribers', 'subscribers --remove a@b.in', 'backup -'],
      ...[`erase ${reference}`, `erase ${reference} --yes`, 'check'],
    ])
      expect(await staff(words.split(' '), env), words).toMatchObject({ code: 0 })
    await staff(['export'], { ...env, STAFF_NAME: 'meena' })
    const lines = await db.access.findMany({ orderBy: { at: 'asc' } })
    expect(lines.map(({ command, what }) => `${command}: ${what}`)).toEqual([
      `export: ${reference}`,
      `export: ${reference}`,
      'export: 0 enquiries and 1 subscription',
      'subscribers: 1 subscription',
      'subscribers: 0 subscriptions',
      'backup: everything',
      'erase: only shown: 1 enquiry with 2 mails and 0 subscriptions',
      'erase: to erase: 1 enquiry with 2 mails and 0 subscriptions',
      'erase: erased: 1 enquiry with 2 mails and 0 subscriptions',
      'export: 0 enquiries',
    ])
    expect(JSON.stringify(lines)).not.toMatch(/asha|98765/i)
    expect(lines.slice(-2).map(({ who }) => who)).toEqual([
      `${userInfo().username}@${hostname()}`,
      `meena@${hostname()}`,
    ])
  })

  it('refuses changes, and deletions within a year', async () => {
    const { env } = await aSite()
    await staff(['export'], env)
    const client = await aClient(env)
    for (const change of [
      'UPDATE "Quvera_Access" SET "Who" = NULL',
      'DELETE FROM "Quvera_Access"',
      'TRUNCATE "Quvera_Access"',
    ])
      await expect(client.query(change), change).rejects.toMatchObject({ code: '42501' })
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
    expect(code).toBe(0)
    expect(stderr).toMatch(/^This access could not be recorded in the access log \(Quvera_Access\): .*read-only.*\n$/)
    expect(stdout).toContain('Asha Verma')
  })
})

it('the history of an enquiry is exported with it, and erased with it', async () => {
  const { url, db, env } = await aSite()
  const { reference = '' } = await submit(url, anOrder())
  const cookie = await enterDesk({ url, db })
  const change = { key: crypto.randomUUID(), references: [reference], status: 'Contacted', was: 'New' }
  expect((await callDesk(url, cookie, 'setStatus', change)).status).toBe(200)
  const person = JSON.parse((await staff(['export', '--person', anOrder().mobile], env)).stdout)
  expect(person.enquiries[0].History).toMatchObject([{ What: 'Status', After: { Status: 'Contacted' } }])
  await staff(['erase', reference, '--yes'], env)
  expect(await db.historyEntry.count()).toBe(0)
})
