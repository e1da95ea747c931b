import { spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { subtractAge } from '../../server/staff/age.ts'
import { products } from '../../shared/catalogue.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { type FakeResend, startFakeResend } from '../support/fake-resend.ts'
import { startServer } from '../support/server-process.ts'
import { runProgram, staff } from '../support/staff-command.ts'
import { createTestDatabase } from '../support/test-database.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

async function aDatabase() {
  const { env, drop } = await createTestDatabase()
  cleanUp.push(drop)
  return env
}

/** A running site without a key, so that its mails wait. */
async function aSite(env: Record<string, string> = {}) {
  const database = await aDatabase()
  const server = await startServer({ ...database, RATE_LIMIT_MAX: '0', ...env })
  cleanUp.push(() => server.stop('SIGKILL'))
  return { url: server.url, server, database }
}

async function aResend(): Promise<FakeResend> {
  const resend = await startFakeResend()
  cleanUp.push(resend.close)
  return resend
}

/** The lines of a CSV after its header, by the name of the column. Enough for cells without line breaks and quotes. */
function readCsv(text: string) {
  const [header = [], ...rows] = text
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n')
    .map((line) => [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''))
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])))
}

describe('the staff command', () => {
  it('explains itself, and tells what it did not understand in one line and exit code 2', async () => {
    for (const args of [
      ['--help'],
      ['export', '--help'],
      ['erase', '--help'],
      ['mails', '-h'],
      ['test-mail', '--help'],
      ['list', '--help'],
      ['show', '--help'],
      ['find', '--help'],
      ['status', '--help'],
      ['note', '--help'],
      ['digest', '--help'],
    ]) {
      const help = await staff(args, {})
      expect(help).toMatchObject({ code: 0, stderr: '' })
      expect(help.stdout).toMatch(/^Usage: /)
    }
    const wrong = [
      [],
      ['export', '--what'],
      ['export', '--from', '2026-02-31'],
      ['export', '--product', 'Aspirin'],
      ['export', '--person', 'nobody'],
      ['erase'],
      ['erase', '--older-than', '2y'],
      ['mails', 'retry', 'all'],
      ['test-mail', 'nobody'],
    ]
    const answers = await Promise.all(wrong.map((args) => staff(args, { DATA_DIR: '/nowhere' })))
    for (const [index, answer] of answers.entries()) {
      expect(answer, wrong[index]?.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(answer.stderr.trimEnd()).toMatch(/^[^\n]+See --help\.$/)
    }
  })

  it('says in one line that the database cannot be reached', async () => {
    const answer = await staff(['mails'], { DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/none' })
    expect(answer.code).toBe(1)
    expect(answer.stderr).toMatch(/^The database cannot be reached[^\n]+\n$/)
    expect(answer.stderr).not.toContain('secret')
  })
})

describe('export', () => {
  it('writes what the running site has stored, and filters by Indian day, product, type and status', async () => {
    const { url, database } = await aSite()
    const { reference } = await submit(url, anOrder({ name: 'Ünal Ğ', mobile: '0987654321', quantity: 2 ** 53 - 1 }))
    await submit(url, anOrder({ products: products[1], retailerSelfUse: 'Self Use' }))

    const all = await staff(['export'], database)
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(all.stdout.startsWith('\ufeff"Reference","Received","Status","Name","Mobile","Email","Products"')).toBe(true)
    const rows = readCsv(all.stdout)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({
      Reference: reference,
      Name: 'Ünal Ğ',
      Mobile: '0987654321',
      Quantity: '9007199254740991',
      Products: products[0],
      RetailerSelfUse: 'Retailer',
      Status: 'New',
      StaffMail: 'Pending',
    })
    const received = new Date(rows[0]?.ReceivedAt ?? '')
    const india = new Date(received.getTime() + 5.5 * 3_600_000).toISOString()
    expect(rows[0]?.Received).toMatch(
      new RegExp(`^${india.slice(8, 10)} \\w{3} ${india.slice(0, 4)} ${india.slice(11, 16)} IST$`),
    )

    const today = india.slice(0, 10)
    const tomorrow = new Date(received.getTime() + 29.5 * 3_600_000).toISOString().slice(0, 10)
    const counts = await Promise.all(
      [
        ['--from', today, '--to', today],
        ['--from', tomorrow],
        ['--product', products[1].toLowerCase()],
        ['--type', 'Self Use', '--status', 'New'],
        ['--status', 'Closed'],
      ].map(async (args) => readCsv((await staff(['export', ...args], database)).stdout).length),
    )
    expect(counts).toEqual([2, 0, 1, 1, 0])
  })

  it('lets no text become a formula, and keeps quotes and commas', async () => {
    const { url, database } = await aSite()
    const names = ['=1+1', '+1', '-1', '@SUM(A1)', 'Plain, "quoted"']
    for (const name of names) expect((await submit(url, anOrder({ name }))).status).toBe(200)
    const { stdout } = await staff(['export'], database)
    for (const cell of [`"'=1+1"`, `"'+1"`, `"'-1"`, `"'@SUM(A1)"`, '"Plain, ""quoted"""'])
      expect(stdout).toContain(cell)
  })

  it('works when the site is stopped', async () => {
    const { url, server, database } = await aSite()
    const { reference } = await submit(url, anOrder())
    await server.stop()
    expect((await staff(['export'], database)).stdout).toContain(reference)
  })

  it('ends quietly when nobody reads on', async () => {
    const database = await aDatabase()
    await runProgram('prisma/seed.ts', [], database)
    const command = `"${process.execPath}" dist/server/staff.js export | head -n 1; echo "\${PIPESTATUS[0]}"`
    const shell = spawn('bash', ['-c', command], {
      env: { PATH: process.env.PATH, ...database },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk))
    await new Promise((done) => shell.once('close', done))
    expect(output.split('\n')).toEqual([expect.stringContaining('"Reference"'), '0', ''])
  })

  it('gives all we hold of a person, whatever the case of the address or the writing of the number', async () => {
    const { url, database } = await aSite()
    await submit(url, anOrder({ email: 'Asha_V@shop.example' }))
    await submit(url, anOrder({ email: 'ashaXv@shop.example', mobile: '9000000001' }))
    await call(url, 'subscription.subscribe', { email: 'asha_v@shop.example' })
    for (const who of ['asha_v@SHOP.example', '+91 98765 43210', '098765-43210']) {
      const { stdout } = await staff(['export', '--person', who], database)
      const { enquiries, subscriptions } = JSON.parse(stdout)
      expect(enquiries).toHaveLength(1)
      expect(enquiries[0]).toMatchObject({ Email: 'Asha_V@shop.example', Products: products[0], Quantity: 24 })
      expect(enquiries[0].Mails).toHaveLength(2)
      expect(subscriptions).toMatchObject(who.includes('@') ? [{ Email: 'asha_v@shop.example' }] : [])
    }
  })

  it('writes the newsletter list, and says that nobody has confirmed its addresses', async () => {
    const { url, database } = await aSite()
    for (const email of ['asha@shop.example', '=cmd@shop.example']) await call(url, 'subscription.subscribe', { email })
    const { code, stdout, stderr } = await staff(['export', '--subscribers'], database)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\ufeff"Email","Subscribed","ConsentVersion","Confirmed","SubscribedAt"\r\n/)
    expect(readCsv(stdout)).toMatchObject([
      { Email: 'asha@shop.example', Confirmed: 'no' },
      { Email: "'=cmd@shop.example", Confirmed: 'no' },
    ])
    expect(stderr).toMatch(/^2 addresses, unconfirmed: [^\n]+\n$/)
  })
})

describe('erase', () => {
  it('changes nothing without --yes, and then erases this person and nobody else', async () => {
    const { url, database } = await aSite()
    const { reference } = await submit(url, anOrder())
    const other = await submit(url, anOrder({ email: 'ashaXverma@shop.example' }))
    await call(url, 'subscription.subscribe', { email: 'asha.verma@shop.example' })
    const who = ['--person', 'ASHA.VERMA@shop.example']

    const dry = await staff(['erase', ...who], database)
    expect(dry.stdout).toContain(`${reference}  `)
    expect(dry.stdout).toContain('Would erase 1 enquiry with 2 mails and 1 subscription. Nothing was changed.')
    expect((await staff(['export'], database)).stdout).toContain(reference)

    expect((await staff(['erase', ...who, '--yes'], database)).stdout).toContain('Erased 1 enquiry with 2 mails')
    const left = await staff(['export'], database)
    expect(left.stdout).toContain(other.reference)
    expect(left.stdout).not.toContain(reference)
    expect((await staff(['mails'], database)).stdout).not.toContain(reference)
    expect((await staff(['erase', ...who, '--yes'], database)).stdout).toBe('Nothing is stored about this person.\n')
  })

  it('leaves the subscription of an address that somebody else typed beside their own number', async () => {
    const { url, database } = await aSite()
    await call(url, 'subscription.subscribe', { email: 'victim@mail.example' })
    await submit(url, anOrder({ email: 'victim@mail.example', mobile: '9000000009' }))
    const { stdout } = await staff(['erase', '--person', '9000000009', '--yes'], database)
    expect(stdout).toContain('Erased 1 enquiry with 2 mails and 0 subscriptions')
    const left = JSON.parse((await staff(['export', '--person', 'victim@mail.example'], database)).stdout)
    expect(left).toMatchObject({ enquiries: [], subscriptions: [{ Email: 'victim@mail.example' }] })
  })

  it('erases what is older than so many days, after a dry run that names the first and the last', async () => {
    const { database } = await aSite()
    await runProgram('prisma/seed.ts', [], database)
    const before = readCsv((await staff(['export'], database)).stdout)
    const limit = Date.now() - 20 * 86_400_000
    const old = before.filter((row) => new Date(row.ReceivedAt ?? '').getTime() < limit)
    expect(old.length).toBeGreaterThan(0)

    const dry = await staff(['erase', '--older-than', '20d'], database)
    const what = `${old.length} enquiries with \\d+ mails received before [^:]+ \\d\\d:\\d\\d IST: the first on ${old[0]?.Received}, the last on ${old.at(-1)?.Received}`
    expect(dry.stdout).toMatch(
      new RegExp(`^Would erase ${what}\\. ${60 - old.length} enquiries stay\\. Nothing was changed`),
    )
    expect((await staff(['erase', '--older-than', '20d', '--yes'], database)).stdout).toMatch(
      new RegExp(`^Erased ${what}\\.`),
    )
    const after = readCsv((await staff(['export'], database)).stdout)
    expect(after.map((row) => row.Id)).toEqual(before.filter((row) => !old.includes(row)).map((row) => row.Id))
    expect((await staff(['erase', '--older-than', '24m'], database)).stdout).toMatch(/^No enquiry was received before/)
  })

  it('counts months as the calendar does', () => {
    expect(subtractAge(new Date('2026-11-21T10:00:00Z'), '24m')).toEqual(new Date('2024-11-21T10:00:00Z'))
    expect(subtractAge(new Date('2026-03-31T10:00:00Z'), '1m')).toEqual(new Date('2026-02-28T10:00:00Z'))
    expect(subtractAge(new Date('2026-11-21T10:00:00Z'), '730d')).toEqual(new Date('2024-11-21T10:00:00Z'))
  })
})

describe('the seed', () => {
  it('fills an empty database, owes no mail, and refuses one that holds enquiries', async () => {
    const { database } = await aSite()
    expect(await runProgram('prisma/seed.ts', [], database)).toMatchObject({ code: 0 })
    expect((await staff(['mails'], database)).stdout).not.toContain('Pending')
    const first = await staff(['export'], database)
    expect(readCsv(first.stdout)).toHaveLength(60)
    const again = await runProgram('prisma/seed.ts', [], database)
    expect(again.code).toBe(1)
    expect(again.stderr).toMatch(/^The database holds enquiries[^\n]+\n$/)
  })
})

describe('test-mail', () => {
  it('sends one mail and tells what Resend answered', async () => {
    const resend = await aResend()
    const env = { RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
    const sent = await staff(['test-mail', 'me@quvera.example'], env)
    expect(sent.code).toBe(0)
    expect(sent.stdout).toMatch(/Resend took the mail .* id [0-9a-f-]{36}/)
    expect(resend.mails).toMatchObject([{ to: ['me@quvera.example'] }])

    resend.behaviour = { status: 403, name: 'validation_error' }
    const refused = await staff(['test-mail', 'me@quvera.example'], env)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^Not sent .*: 403 validation_error: the fake says validation_error\n$/)
    expect((await staff(['test-mail', 'me@quvera.example'], {})).stderr).toBe(
      'RESEND_API_KEY is not set, so no mail can be sent.\n',
    )
  })
})
