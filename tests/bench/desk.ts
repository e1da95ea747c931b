/** `npm run bench:desk`: lists, searches and orders with 100,000 enquiries. */
import { openForSite } from '../../server/database/open.ts'
import { launchBrowser } from '../support/browser.ts'
import { callDesk, enterDesk } from '../support/desk.ts'
import { percentile } from '../support/load.ts'
import { startServer } from '../support/server-process.ts'
import { administer, migrations } from '../support/test-database.ts'
import { calmP50 } from './http-load.ts'
import { finish, median, report } from './report.ts'
import { newDatabase, startServerOfSameVersion } from './targets.ts'

const ENQUIRIES = 100_000
const STAFF = 'staff@quvera.test'

const postgres = await startServerOfSameVersion()
const url = await newDatabase(postgres)
// Every fifth name with accents or in another script, notes, histories; two years of enquiries; of 200 nobody has rung yet; every fiftieth is spam.
await administer(
  url,
  `WITH form AS (
    INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products",
      "NoticeVersion", "SubmissionKey", "Status", "SuspectedSpam")
    SELECT gen_random_uuid(), 'QV-' || upper(translate(lpad(to_hex(n), 6, '0'), '01', 'gh')), now() - n * interval '10 minutes',
      (ARRAY['Asha Verma', 'Rohan Mehta', 'José Fernandes', 'Kavya Menon', 'Gurpreet Singh, Aarogya Medicos', 'Karthik Iyer',
        'Fatima Sheikh', 'प्रिया नायर', 'Meera Joshi', 'Deepak Sharma, Sai Medical Stores'])[1 + n % 10] || ' ' || n,
      'customer.' || n || '@shop.example', lpad((9000000000 + n * 7919)::text, 10, '9'), 1 + n % 40, 'Self Use', 'Quvera 300', '1',
      gen_random_uuid(), (CASE WHEN n < 200 THEN 'New' WHEN n % 10 = 0 THEN 'Contacted' ELSE 'Closed' END)::"Quvera_Status", n % 50 = 7
    FROM generate_series(1, ${ENQUIRIES}) n RETURNING "Id", "ReceivedAt", "Status"
  ), history AS (
    INSERT INTO "Quvera_History" ("EnquiryId", "At", "Who", "What", "Before", "After", "Text")
    SELECT "Id", "ReceivedAt", '${STAFF}', 'Status', '{"Status": "New"}'::jsonb, jsonb_build_object('Status', "Status"), NULL FROM form WHERE "Status" <> 'New'
    UNION ALL SELECT "Id", "ReceivedAt", '${STAFF}', 'Note', NULL, NULL, 'rings back on Monday, asks for a price' FROM form WHERE abs(hashtext("Id"::text)) % 4 = 0
  )
  INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Status", "DueAt", "FirstTriedAt", "SentAt")
  SELECT "Id", kind::"Quvera_MailKind", CASE kind WHEN 'Notice' THEN '${STAFF}' END, 'Delivered', NULL, "ReceivedAt", "ReceivedAt"
  FROM form CROSS JOIN (VALUES ('Notice'), ('Acknowledgement')) AS kinds (kind)`,
)
await administer(url, 'VACUUM ANALYZE')

const server = await startServer({ DATABASE_URL: url, STAFF_EMAILS: STAFF, LOG_LEVEL: 'error', RATE_LIMIT_MAX: '0' })
const database = await openForSite({ url, dataDir: '', migrations })
const cookie = await enterDesk({ url: server.url, db: database.db }, { email: STAFF })
await database.close()

/** The 95th percentile of so many calls, one after the other, in milliseconds. */
async function p95(inputs: object[], times = 60, name = 'list'): Promise<number> {
  const taken: number[] = []
  for (let time = 0; time < times; time++) {
    const start = performance.now()
    const { status } = await callDesk(server.url, cookie, name, inputs[time % inputs.length])
    if (status !== 200) throw new Error(`desk.${name} answered ${status}`)
    taken.push(performance.now() - start)
  }
  return percentile(taken, 0.95)
}

const lists = ['new', 'toRing', 'contacted', 'closed', 'spam', 'all'].map((state) => ({ state }))
const texts = [
  'priya',
  'jose fernandes 4',
  '+91 90079 19000',
  '7k3m9p',
  'not to be found',
  'asks for a price',
  'menon 98 price',
]
const searches = texts.map((text) => ({ state: 'all', text }))

const MBIT = (1024 * 1024) / 8
/** Lighthouse's. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 1.6 * MBIT, uploadThroughput: 0.73 * MBIT }

/** Until the rows are painted. With a quarter of the processor too, and an empty cache. */
async function firstList(): Promise<number> {
  const browser = await launchBrowser()
  const [name = '', value = ''] = cookie.split('=')
  const times: number[] = []
  for (let time = 0; time < 3; time++) {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
    await context.addCookies([{ name, value, url: server.url }])
    const page = await context.newPage()
    const client = await context.newCDPSession(page)
    await client.send('Network.emulateNetworkConditions', SLOW_4G)
    await client.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    const start = performance.now()
    await page.goto(`${server.url}/staff`, { waitUntil: 'commit' }) // the load event waits for fonts: rows are read without
    await page.locator('.enquiry').first().waitFor()
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))))
    times.push((performance.now() - start) / 1000)
    await context.close()
  }
  await browser.close()
  return median(times)
}

await p95(lists, 20)
report(`p95 of a list, ${ENQUIRIES.toLocaleString('en-IN')} enquiries`, await p95(lists), 'ms', { atMost: 50 })
const shown = await callDesk(server.url, cookie, 'list', { state: 'new' })
const showing = shown.data.enquiries.map(({ reference }: { reference: string }) => reference)
report('p95 of a pulse', await p95([{ showing, newest: new Date().toISOString() }], 60, 'pulse'), 'ms', { atMost: 50 })
report('p95 of a search', await p95(searches), 'ms', { atMost: 500 })
const calm = await calmP50(server.url, 6)
report('p50 of an order at 100 a second', calm, 'ms')
const first = await firstList()
report('first list on a throttled phone, from the address to the rows, median of 3', first, 's', { atMost: 1.5 })
let second = 0
const reading = setInterval(() => {
  second++
  for (const inputs of [lists, searches]) p95([inputs[second % inputs.length] ?? {}], 1)
}, 1000)
const beside = await calmP50(server.url, 6)
clearInterval(reading)
report('p50 while staff list and search, each once a second', beside, 'ms')
report('that is', beside / calm, '× the calm one', { atMost: 1.2 })

await server.stop()
await postgres.close()
finish()
