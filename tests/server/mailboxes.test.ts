import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../server/database/open-database.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { scratch } from '../support/scratch.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestDatabase, migrations } from '../support/test-database.ts'

const MIGRATION = '20261122074500_mailboxes'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

async function anApp() {
  const app = await startTestApp()
  cleanUp.push(app.close)
  return app
}

/** How many acknowledgements go out when each of the addresses sends an order, in turn. */
async function acknowledged(orders: Record<string, unknown>[]) {
  const app = await anApp()
  for (const order of orders) expect((await submit(app.url, anOrder(order))).status).toBe(200)
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
  return app.resend.mails.filter((mail) => mail.key.startsWith('ack/')).map((mail) => mail.to[0])
}

describe('three acknowledgements a day are for a mailbox', () => {
  it.each([
    [
      'with tags and in capitals',
      ['asha@shop.example', 'asha+1@shop.example', 'Asha+2@Shop.example', 'asha+@shop.example', 'ASHA@shop.example'],
    ],
    [
      'at Gmail with dots, under either name',
      ['asha.verma@gmail.com', 'ashaverma@gmail.com', 'a.s.h.a.verma+x@googlemail.com', 'ASHAVERMA@GoogleMail.com'],
    ],
  ])('%s', async (_how, emails) => {
    expect(await acknowledged(emails.map((email) => ({ email })))).toHaveLength(3)
  })

  it('and others have their own', async () => {
    const emails = ['asha.verma@shop.example', 'ashaverma@shop.example', 'asha@gmail.com', 'asha@shop.example']
    expect(await acknowledged(emails.map((email) => ({ email })))).toHaveLength(4)
  })

  it('and suspected spam in somebody’s name uses up none of them', async () => {
    const email = 'asha@shop.example'
    const spam = Array.from({ length: 4 }, () => ({ email, website: 'x' }))
    expect(await acknowledged([...spam, { email }])).toEqual([email])
  })
})

it('the migration comes over a database with enquiries, and its index is used', async () => {
  const { env, drop } = await createTestDatabase()
  cleanUp.push(drop)
  const older = await mkdtemp(join(scratch, 'quvera-migrations-'))
  cleanUp.push(() => rm(older, { recursive: true }))
  await cp(migrations, older, { recursive: true, filter: (path) => !path.includes(MIGRATION) })
  const open = (folder: string) =>
    openDatabase({ url: env.DATABASE_URL, dataDir: env.DATA_DIR ?? '', migrations: folder })
  const empty = await open(migrations)
  await empty.db.$executeRaw`DROP SCHEMA public CASCADE`
  await empty.db.$executeRaw`CREATE SCHEMA public`
  await empty.close()
  const before = await open(older)
  await before.db.$executeRaw`
    INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
    SELECT gen_random_uuid(), 'R' || n, 'Asha', 'As.ha+' || n || '@GoogleMail.com', '9876543210', 1, 'Retailer', 'Quvera XT', '1', gen_random_uuid()
    FROM generate_series(1, 500) n`
  await before.close()
  const { db, notes, close } = await open(migrations)
  cleanUp.push(close)
  expect(notes).toEqual([`applied migration ${MIGRATION}`])
  expect(await db.$queryRaw`SELECT DISTINCT "Quvera_mailbox"("Email") AS box FROM "Quvera_Form"`).toEqual([
    { box: 'asha@gmail.com' },
  ])
  await db.$executeRaw`ANALYZE "Quvera_Form"`
  const plan = await db.$queryRaw`
    EXPLAIN (FORMAT JSON) SELECT FROM "Quvera_Form"
    WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"('other@shop.example') AND NOT "SuspectedSpam"`
  expect(JSON.stringify(plan)).toContain('Quvera_Form_mailbox_idx')
})
