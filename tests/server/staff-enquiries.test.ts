// Staff can list, find, show and change enquiries, and no control character that a visitor sent reaches the terminal.
import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { textFilter } from '../../server/staff/list.ts'
import { runStaff } from '../../server/staff/run.ts'
import { products } from '../../shared/catalogue.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { anOpenDatabase, aSite } from '../support/fixtures.ts'
import { type Ran, staff } from '../support/staff-command.ts'
import { hoursAgo, storedProducts, storeEnquiry } from '../support/stored-enquiry.ts'

/** The references of a list, in its order. */
function references({ stdout }: Ran) {
  return [...stdout.matchAll(/^[A-Z]+-\w{6}/gm)].map(([reference]) => reference)
}

it('show keeps the lines of a text', async () => {
  const { db, env } = await anOpenDatabase()
  const reference = await storeEnquiry(db, { name: 'Asha\nVerma', note: 'rings\nback' })
  const { stdout } = await staff(['show', reference], env)
  expect(stdout).toMatch(/^Name {12}Asha\n {16}Verma\nMobile/m)
  expect(stdout).toMatch(/^Note {12}rings\n {16}back\nPrivacy/m)
})

it('control characters in a name never reach the terminal', async () => {
  const { db, env } = await anOpenDatabase()
  const reference = await storeEnquiry(db, { name: 'Asha\u001b[2J\u009b2J\u202eVerma' })
  for (const command of [['list'], ['show', reference], ['status', reference, 'Contacted'], ['note', reference, 'x']]) {
    const { code, stdout } = await staff(command, env)
    expect(code, command[0]).toBe(0)
    for (const character of ['\u001b', '\u009b', '\u202e']) expect(stdout, command[0]).not.toContain(character)
  }
})

it('notes written at the same moment are all kept, or refused', async () => {
  const { db, env } = await anOpenDatabase()
  const reference = await storeEnquiry(db)
  const texts = ['rings back', 'asked twice', 'wants a rebate', 'on holiday']
  const written = await Promise.all(texts.map((text) => staff(['note', reference, text], env)))
  const { note } = await db.enquiry.findUniqueOrThrow({ where: { reference } })
  for (const [index, { code, stderr }] of written.entries()) {
    expect(note?.includes(texts[index] ?? ''), stderr).toBe(code === 0)
    expect(stderr).toBe(code ? 'Somebody else has changed this note meanwhile. Run the command again.\n' : '')
  }
})

describe('list', () => {
  it('shows the enquiries of the running site, newest first, with the state of their mails', async () => {
    const { url, db, env } = await aSite()
    const old = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(50), products: storedProducts[1] },
      { Acknowledgement: ['Bounced', 'no such user'] },
    )
    const older = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(400), status: 'Closed', note: 'wants\na rebate' },
      { Notice: 'Bounced' },
    )
    const { reference } = await submit(url, anOrder({ name: 'Ünal Ğ' }))

    const all = await staff(['list'], env)
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(references(all)).toEqual([reference, old, older])
    const [header, newest, second, third] = all.stdout.split('\n')
    expect(header).toMatch(/^Reference +Status +Mobile +Order +Received IST +Mail +Name +Email +Type +Note$/)
    expect(newest).toMatch(
      /^\S+ +New +9876543210 +24 × 300 +\d\d \w{3} (?:\d{4} )?\d\d:\d\d +Pending +Ünal Ğ +asha.verma@shop.example +Retailer$/,
    )
    expect(second).toMatch(/24 × XT .* Ack Bounced /)
    expect(third).toMatch(/Closed\* .* Notice Bounced .* wants a rebate$/)

    const of = async (...args: string[]) => references(await staff(['list', ...args], env))
    expect(await of('--new')).toEqual([reference, old])
    expect(await of('--status', 'closed')).toEqual([older])
    expect(await of('--from', '7d')).toEqual([reference, old])
    expect(
      await of(
        '--from',
        hoursAgo(24 * 40)
          .toISOString()
          .slice(0, 10),
        '--product',
        products[0].toLowerCase(),
      ),
    ).toEqual([reference, older])
    expect((await staff(['list', '--status', 'Contacted'], env)).stdout).toBe('There is no such enquiry.\n')

    const json = JSON.parse((await staff(['list', '--json'], env)).stdout)
    expect(json).toHaveLength(3)
    expect(json[1]).toMatchObject({
      Reference: old,
      Quantity: 24,
      Products: products[1],
      AcknowledgementMail: 'Bounced',
      LastError: 'no such user',
    })
  })
})

it('a list of 80 columns keeps the time and the state of mails, and shows that there is a note', async () => {
  const { db, env } = await anOpenDatabase()
  const row = { status: 'Contacted', name: 'Venkatanarasimharajuvaripeta Rao', note: 'rings back on Monday' } as const
  await storeEnquiry(db, row, { Notice: 'Bounced' })
  const [head, line] = (await staff(['list'], env, 80)).stdout.split('\n')
  expect(head).toMatch(/^Reference +Status +Mobile +Order +Received IST +Mail +N/)
  expect(line).toMatch(/ Contacted\* +9876543210 +24 × 300 +\d\d \w{3} \d\d:\d\d +Notice Bounced +V/)
  const wide = (await staff(['list'], env, 110)).stdout.split('\n')
  expect(wide[1]).toMatch(/ Notice Bounced +Venkatanarasimharajuvaripeta Rao .*…$/)
  for (const each of [head, line, ...wide])
    expect(each?.length).toBeLessThanOrEqual(each === head || each === line ? 80 : 110)
})

it('a list can show suspected spam, the oldest first, enquiries since yesterday, and one product', async () => {
  const { db, env } = await anOpenDatabase()
  const old = await storeEnquiry(db, { receivedAt: hoursAgo(60), products: storedProducts[1], suspectedSpam: true })
  const spam = await storeEnquiry(db, { receivedAt: hoursAgo(10), suspectedSpam: true })
  const newest = await storeEnquiry(db)
  const listed = async (...options: string[]) => references(await staff(['list', ...options], env))
  expect(await staff(['list', '--from', '1d', '--to', 'yesterday'], env)).toMatchObject({ code: 0 })
  expect(await staff(['list', '--from', 'today', '--to', 'yesterday'], env)).toMatchObject({ code: 2 })
  expect(await listed('--spam')).toEqual([spam, old])
  expect(await listed('--spam', '--oldest')).toEqual([old, spam])
  expect(await listed('--oldest')).toEqual([old, spam, newest])
  expect(await listed('--from', 'yesterday')).toEqual([newest, spam])
  expect(await listed('--to', 'Yesterday')).toContain(old)
  expect(await listed('--product', 'xt')).toEqual([old])
})

it('a list ends after 50 enquiries, and says how many more there are; for programs it holds all', async () => {
  const { db, env } = await anOpenDatabase()
  for (let hours = 0; hours < 53; hours++) await storeEnquiry(db, { receivedAt: hoursAgo(hours) })
  const listed = await staff(['list', '--to', 'today'], env)
  expect(references(listed)).toHaveLength(50)
  expect(listed.stdout).toMatch(/\nand 3 more: --json shows all\n$/)
  expect(JSON.parse((await staff(['list', '--json'], env)).stdout)).toHaveLength(53)
})

it('the history names the user, and show stops asking to ring after the status is Contacted', async () => {
  const { db, env } = await anOpenDatabase()
  const reference = await storeEnquiry(db, {}, { Acknowledgement: ['Bounced', 'bounced: no such user'] })
  const shown = async () => (await staff(['show', reference], env)).stdout
  expect(await shown()).toContain('ring the visitor')
  await staff(['status', reference, 'Contacted'], { ...env, STAFF_NAME: 'asha' })
  expect(await shown()).toMatch(/^Status +New → Contacted, .* IST, by asha@\S+, \w+$/m)
  expect(await shown()).not.toContain('ring the visitor')
})

it('a list and help fit a terminal of 60 columns', async () => {
  const { db, env } = await anOpenDatabase()
  await storeEnquiry(
    db,
    { status: 'Contacted', name: 'Venkatanarasimharajuvaripeta Rao' },
    { Acknowledgement: 'Failed' },
  )
  for (const command of [['list'], ['list', '--help'], ['mails', '--help']]) {
    const lines: string[] = []
    const output = new Writable({ write: (chunk, _, done) => done(void lines.push(...String(chunk).split('\n'))) })
    const streams = { input: Readable.from([]), output: Object.assign(output, { columns: 60 }), errors: output }
    expect(await runStaff(command, env, streams)).toBe(0)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
    if (command.length === 1) expect(lines.join('\n')).toMatch(/ 9876543210 +24 × 300/)
  }
})

describe('show', () => {
  it('shows everything of an enquiry, however its reference is typed, and what to do about its mails', async () => {
    const { db, env } = await anOpenDatabase()
    const reference = await storeEnquiry(
      db,
      { note: 'asked twice', suspectedSpam: true },
      { Notice: ['Failed', '422 validation_error: no'], Acknowledgement: ['Bounced', 'bounced: no such user'] },
    )
    for (const text of [
      reference,
      reference.toLowerCase(),
      reference.slice(3),
      ` ${reference.slice(3).toLowerCase()}`,
      reference.replace('-', ''),
      reference.replace('-', ' '),
      ['qv', reference.slice(3)],
    ].flatMap((text) => [[text].flat()])) {
      const { code, stdout } = await staff(['show', ...text], env)
      expect(code).toBe(0)
      for (const part of [
        `Reference       ${reference}`,
        'asha.verma@shop.example',
        'Note            asked twice',
        'Suspected spam  yes',
        '422 validation_error: no',
        'bounced: no such user',
        `did not reach staff. Answer the visitor, then: npm run -s staff -- status ${reference} Contacted`,
        'The address is wrong, or its owner wants no mail: ring the visitor',
      ])
        expect(stdout).toContain(part)
    }
    const untold = await storeEnquiry(db, {}, { Notice: ['Withheld', 'Not sent: after 7 days it is too late.'] })
    expect((await staff(['show', untold], env)).stdout).toContain('did not reach staff')
    // Stored under the prefix of another time.
    const older = await storeEnquiry(db, { reference: 'OLD-2B3C4D' })
    for (const text of [['old-2b3c4d'], ['OLD', '2B3C4D'], ['OLD2B3C4D'], ['2b3c4d']])
      expect((await staff(['show', ...text], env)).stdout).toContain(`Reference       ${older}`)
    await storeEnquiry(db, { reference: 'NEW-2B3C4D' })
    const unclear = await staff(['show', '2b3c4d'], env)
    expect(unclear).toMatchObject({ code: 1, stderr: '2B3C4D is OLD-2B3C4D or NEW-2B3C4D: name one of them.\n' })
    const missing = await staff(['show', 'QV-ZZZZZZ'], env)
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'There is no enquiry QV-ZZZZZZ. npm run -s staff -- list TEXT looks for others.\n',
    })
  })
})

describe('find', () => {
  it('finds by name, address, mobile, reference and note in any case, without wildcards', async () => {
    const { db, env } = await anOpenDatabase()
    const asha = await storeEnquiry(db, { receivedAt: hoursAgo(1), name: 'ÜNAL Ğ', note: 'call after Diwali' })
    const under = await storeEnquiry(db, { receivedAt: hoursAgo(2), email: 'a_b@mail.example', mobile: '9000000001' })
    const percent = await storeEnquiry(db, {
      receivedAt: hoursAgo(3),
      name: '50% Off Stores',
      email: 'aXb@mail.example',
      mobile: '9000000002',
    })
    const found = async (text: string) => {
      const rows = await db.enquiry.findMany({ where: textFilter(text) })
      return rows.map(({ reference }) => reference).sort()
    }
    expect(await found('ünal')).toEqual([asha])
    expect(await found('A_B@MAIL')).toEqual([under])
    expect(await found('50%')).toEqual([percent])
    expect(await found('%')).toEqual([percent])
    for (const mobile of ['+91 98765 43210', '098765-43210', '6543', '(98765) 43210'])
      expect(await found(mobile)).toEqual([asha])
    expect(await found('987')).toContain(asha)
    expect(await found('90000 0000')).toEqual([under, percent].sort())
    expect(await found(asha.slice(4).toLowerCase())).toEqual([asha])

    const irish = await storeEnquiry(db, { receivedAt: hoursAgo(4), name: 'Siobhan  O’Neil', mobile: '8000000001' })
    expect(await found("siobhan o'neil")).toEqual([irish])
    expect(await found('Siobhan   O’NEIL')).toEqual([irish])
    expect(await found(irish.replace('-', ' '))).toEqual([irish])
    expect(await found(irish.replace('-', '').toLowerCase())).toEqual([irish])

    expect(references(await staff(['list', 'mail.EXAMPLE'], env))).toEqual([under, percent])
    expect(references(await staff(['list', 'after', 'diwali'], env))).toEqual([asha])
    expect((await staff(['list', "o'; DROP"], env)).stdout).toBe('There is no such enquiry.\n')
    expect(JSON.parse((await staff(['list', 'nothing like it', '--json'], env)).stdout)).toEqual([])
  })
})

describe('status and note', () => {
  it('a note is at most 2,000 characters in Studio and psql too, so that restore takes each backup', async () => {
    const { db } = await anOpenDatabase()
    const reference = await storeEnquiry(db)
    const write = (length: number) => db.$executeRaw`
      UPDATE "Quvera_Form" SET "Note" = repeat('ü', ${length}::int) WHERE "Reference" = ${reference}`
    await expect(write(2001)).rejects.toThrow('Quvera_Form_Note_check')
    expect(await write(2000)).toBe(1)
  })

  it('are set beside the running site, and appear in list and export', async () => {
    const { url, db, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    const { reference: other = '' } = await submit(url, anOrder({ name: 'Rohan Mehta' }))

    const set = await staff(['status', reference.toLowerCase(), other.slice(3), 'contacted'], env)
    expect(set).toMatchObject({ code: 0, stderr: '' })
    expect(set.stdout).toBe(`${reference}  Asha Verma: New → Contacted\n${other}  Rohan Mehta: New → Contacted\n`)
    expect((await staff(['status', reference, 'Contacted'], env)).stdout).toContain('is Contacted already')
    expect((await staff(['list', '--new'], env)).stdout).toBe('There is no such enquiry.\n')

    expect((await staff(['note', reference, 'call', 'on', 'Monday'], env)).stdout).toContain('call on Monday')
    await staff(['note', reference, 'rang'], env)
    const day = formatIndianTime(new Date()).slice(0, 11)
    expect((await db.enquiry.findFirst({ where: { reference } }))?.note).toBe(`${day}: call on Monday\n${day}: rang`)
    expect((await staff(['show', reference], env)).stdout).toMatch(
      new RegExp(`^Note +${day}: call on Monday\n +${day}: rang$`, 'm'),
    )
    const again = await staff(['note', '--replace', reference, '=1+1, "urgent"'], env)
    expect(again.stdout).toContain(`${reference}  Asha Verma: =1+1, "urgent"\nBefore: ${day}: call on Monday`)
    expect((await staff(['export'], env)).stdout).toContain(`"'=1+1, ""urgent"""`)
    expect((await staff(['note', reference, ''], env)).stdout).toContain('the note was removed')
    expect(await db.enquiry.findMany({ where: { note: { not: null } } })).toEqual([])
  })

  it('take a reference in two words, mark suspected spam and clear it', async () => {
    const { db, env } = await anOpenDatabase()
    const reference = await storeEnquiry(db)
    const code = reference.slice(3)
    const set = async (...words: string[]) => (await staff(['status', 'QV', code, ...words], env)).stdout
    expect(await set('Spam')).toBe(`${reference}  Asha Verma: not suspected → suspected spam\n`)
    expect((await staff(['list'], env)).stdout).toContain('New, spam?')
    expect(await set('spam')).toContain('is suspected spam already')
    expect(await set(reference, 'not-spam')).toBe(`${reference}  Asha Verma: suspected spam → not suspected\n`)
    expect(await set('Contacted')).toContain('New → Contacted')
    expect(await db.enquiry.findMany()).toMatchObject([{ status: 'Contacted', suspectedSpam: false }])
    await staff(['note', 'qv', code, 'rings', 'back'], env)
    expect(await db.enquiry.findMany()).toMatchObject([{ note: expect.stringMatching(/: rings back$/) }])
  })

  it('change nothing when one of the references does not exist', async () => {
    const { db, env } = await anOpenDatabase()
    const reference = await storeEnquiry(db)
    const misspelt = await staff(['status', reference, 'spm'], env)
    expect(misspelt.stderr).toContain('must be one of: New, Contacted, Closed, spam, not-spam')
    const refused = await staff(['status', reference, 'QV-ZZZZZZ', 'Closed'], env)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(references(await staff(['list', '--new'], env))).toEqual([reference])
  })
})
