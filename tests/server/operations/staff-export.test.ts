// An export holds what the site has stored, or all that is held of one person, and no formula of a visitor runs in it.
import { expect, it } from 'vitest'
import { products } from '../../../shared/catalogue.ts'
import { formatIndianDay, formatIndianTime } from '../../../shared/indian-time.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { anOpenDatabase, aSite } from '../../support/fixtures.ts'
import { readCsv } from '../../support/read-csv.ts'
import { runShell, staff } from '../../support/staff-command.ts'
import { storeEnquiries } from '../../support/stored-enquiry.ts'

it('an export has what the running site has stored', async () => {
  const { url, env } = await aSite()
  const { reference } = await submit(url, anOrder({ name: 'Ünal Ğ', mobile: '0987654321', quantity: 2 ** 53 - 1 }))
  await submit(url, anOrder({ products: products[1], retailerSelfUse: 'Self Use' }))
  const all = await staff(['export'], env)
  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(all.stdout.startsWith('\ufeff"Reference","Received","Status","ClosedAs"')).toBe(true)
  const [first] = readCsv(all.stdout)
  const received = new Date(first?.ReceivedAt ?? '')
  expect(first).toMatchObject({
    Reference: reference,
    Received: `${formatIndianDay(received)} ${formatIndianTime(received).slice(12, 17)}`,
    Name: 'Ünal Ğ',
    Mobile: '09876 54321',
    Quantity: '9007199254740991',
    Products: products[0],
    RetailerSelfUse: 'Retailer',
    Status: 'New',
    StaffMail: 'Pending',
  })
})

it('an export escapes formulas, quotes and commas', async () => {
  const { url, env } = await aSite()
  const names = ['=1+1', '+1', '-1', '@SUM(A1)', 'Plain, "quoted"', 'x;=1+1;y', 'x; "@SUM(A1)"', 'a-b; c=d']
  for (const name of names) expect((await submit(url, anOrder({ name }))).status).toBe(200)
  const { stdout } = await staff(['export'], env)
  for (const cell of [`"'=1+1"`, `"'+1"`, `"'-1"`, `"'@SUM(A1)"`, '"Plain, ""quoted"""']) expect(stdout).toContain(cell)
  // A program that separates by `;` ends the quotes at the first comma: then each `;` of a name begins a cell.
  for (const cell of [`"x;'=1+1;y"`, `"x; ""'@SUM(A1)"""`, '"a-b; c=d"']) expect(stdout).toContain(cell)
  expect(stdout).not.toMatch(/[;\t|][ "]*[=+@-]/)
})

it('an export exits with 0 when its reader stops early, and goes on where the site is stopped', async () => {
  const { db, env } = await anOpenDatabase()
  await storeEnquiries(db, 1000)
  const { stdout } = await runShell('set -o pipefail; node dist/server/staff.js export | head -n 1; echo $?', env)
  expect(stdout.split('\n')).toEqual([expect.stringContaining('"Reference"'), '0', ''])
})

it('an export of a person has all we hold, but no secret, however the address or number is typed', async () => {
  const { url, env } = await aSite()
  await submit(url, anOrder({ email: 'Asha_V@shop.example' }))
  await submit(url, anOrder({ email: 'ashaXv@shop.example', mobile: '9000000001' }))
  await call(url, 'subscription.subscribe', { email: 'asha_v@shop.example' })
  const enquiry = { Email: 'Asha_V@shop.example', Products: products[0], Quantity: 24, Mails: [{}, {}] }
  const subscription = { Email: 'asha_v@shop.example', Mails: [{ Kind: 'Confirmation', Status: 'Pending' }] }
  for (const who of ['asha_v@SHOP.example', '+91 98765 43210', '098765-43210']) {
    const { stdout } = await staff(['export', '--person', who], env)
    const subscriptions = who.includes('@') ? [subscription] : []
    expect(JSON.parse(stdout)).toMatchObject({ enquiries: [enquiry], subscriptions })
    expect(stdout).not.toMatch(/Secret|[\da-f]{64}/)
  }
  for (const who of ['asha_v@shop.example', 'nobody@shop.example']) {
    const { stderr } = await staff(['export', '--person', who], env)
    expect(stderr).toBe(who.startsWith('nobody') ? 'Nothing is stored under this address or number.\n' : '')
  }
})
