// An export holds what the site has stored, or all that is held of one person, and no formula of a visitor runs in it.
import { describe, expect, it } from 'vitest'
import { products } from '../../shared/catalogue.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { anOpenDatabase, aSite } from '../support/fixtures.ts'
import { readCsv } from '../support/read-csv.ts'
import { runShell, staff } from '../support/staff-command.ts'
import { storeEnquiries } from '../support/stored-enquiry.ts'

describe('export', () => {
  it('writes what the running site has stored, and filters by Indian day, product, type and status', async () => {
    const { url, env } = await aSite()
    const { reference } = await submit(url, anOrder({ name: 'Ünal Ğ', mobile: '0987654321', quantity: 2 ** 53 - 1 }))
    await submit(url, anOrder({ products: products[1], retailerSelfUse: 'Self Use' }))

    const all = await staff(['export'], env)
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
      ].map(async (args) => readCsv((await staff(['export', ...args], env)).stdout).length),
    )
    expect(counts).toEqual([2, 0, 1, 1, 0])
  })

  it('escapes formulas, quotes and commas', async () => {
    const { url, env } = await aSite()
    const names = ['=1+1', '+1', '-1', '@SUM(A1)', 'Plain, "quoted"']
    for (const name of names) expect((await submit(url, anOrder({ name }))).status).toBe(200)
    const { stdout } = await staff(['export'], env)
    for (const cell of [`"'=1+1"`, `"'+1"`, `"'-1"`, `"'@SUM(A1)"`, '"Plain, ""quoted"""'])
      expect(stdout).toContain(cell)
  })

  it('exits with 0 when its reader stops early, and goes on where the site is stopped', async () => {
    const { db, env } = await anOpenDatabase()
    await storeEnquiries(db, 1000)
    const { stdout } = await runShell('set -o pipefail; node dist/server/staff.js export | head -n 1; echo $?', env)
    expect(stdout.split('\n')).toEqual([expect.stringContaining('"Reference"'), '0', ''])
  })

  it('writes all we hold of a person, however the address or number is typed', async () => {
    const { url, env } = await aSite()
    await submit(url, anOrder({ email: 'Asha_V@shop.example' }))
    await submit(url, anOrder({ email: 'ashaXv@shop.example', mobile: '9000000001' }))
    await call(url, 'subscription.subscribe', { email: 'asha_v@shop.example' })
    for (const who of ['asha_v@SHOP.example', '+91 98765 43210', '098765-43210']) {
      const { stdout } = await staff(['export', '--person', who], env)
      const { enquiries, subscriptions } = JSON.parse(stdout)
      expect(enquiries).toHaveLength(1)
      expect(enquiries[0]).toMatchObject({ Email: 'Asha_V@shop.example', Products: products[0], Quantity: 24 })
      expect(enquiries[0].Mails).toHaveLength(2)
      expect(subscriptions).toMatchObject(who.includes('@') ? [{ Email: 'asha_v@shop.example' }] : [])
    }
  })
})
