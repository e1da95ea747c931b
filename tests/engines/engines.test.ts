// In the browser engine that BROWSER names, an order is received whether its scripts arrive, come late or are lost.
// The menus lead on, no product page scrolls sideways, and staff can work at the desk.
import { createServer, request, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLink } from '../../server/desk/sessions.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { orderPaths } from '../../shared/page-paths.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { typedOrder } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { startSite } from '../support/site.ts'
import { type Engine, engines } from './engine.ts'

const NOTHING = /^$/
/** What becomes of scripts on their way. */
let lost = NOTHING
let late = NOTHING

let site: Awaited<ReturnType<typeof startSite>>
let engine: Engine
let network: Server
let url: string

beforeAll(async () => {
  const start = engines[process.env.BROWSER ?? '']
  if (!start) throw new Error(`BROWSER must be one of ${Object.keys(engines).join(', ')}`)
  ;[site, engine] = await Promise.all([startSite(), start()])
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  network = createServer(async (incoming, response) => {
    const { url: path = '', method, headers } = incoming
    if (late.test(path)) await sleep(2000)
    if (lost.test(path)) return response.writeHead(404).end()
    const onward = request(site.url + path, { method, headers }, (answer) => {
      const kept = path.endsWith('.js') ? { 'cache-control': 'no-store' } : {} // so that each test has its own luck
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...kept })
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy()) // the browser has left the page whose scripts these were
    incoming.pipe(onward)
  }).listen(port, '127.0.0.1')
})
afterAll(async () => {
  await engine?.close()
  network?.close()
  await site?.close()
})
beforeEach(async () => {
  lost = late = NOTHING
  await engine.resize(1280, 900)
  await site.inspect((db) => db.enquiry.deleteMany())
})

const ready = () => eventually(() => engine.run<boolean>('return document.documentElement.hasAttribute("data-ready")'))

async function fillAndSend() {
  await engine.run(`
    const filled = ${JSON.stringify({ ...typedOrder, mobile: '98765 43210' })}
    for (const [name, value] of Object.entries(filled)) document.querySelector('#order [name=' + name + ']').value = value
    document.querySelector('#order [type=submit]').scrollIntoView({ block: 'center', behavior: 'instant' })`)
  await engine.click('#order [type=submit]')
}

async function expectReceived() {
  await eventually(async () => expect(await engine.run('return document.body.innerText')).toContain(messages.received))
  const reference = await engine.run('return document.querySelector(".reference").textContent')
  const rows = await site.inspect((db) => db.enquiry.findMany())
  expect(rows.map((row) => row.reference)).toEqual([reference])
}

describe.each(orderPaths)('on %s', (path) => {
  it('an order is received', async () => {
    await engine.goto(url + path)
    await ready()
    await fillAndSend()
    await expectReceived()
  })

  it('an order is received when no script arrives', async () => {
    lost = /^\/assets\/.*\.js$/
    await engine.goto(url + path)
    await fillAndSend()
    await expectReceived()
  })

  it('an order sent before the scripts are there is received once', async () => {
    late = /\/hydrate-/
    await engine.goto(url + path)
    await fillAndSend()
    expect(await engine.run('return document.querySelector("[data-hydrated]") === null')).toBe(true)
    await expectReceived()
  })
})

it.each([productPath(products[0]), productPath(products[1])])('%s does not scroll sideways', async (path) => {
  for (const width of [600, 900, 1280, 1500]) {
    await engine.resize(width, 900)
    await engine.goto(url + path)
    for (const top of [0, 1e5]) {
      await engine.run(`scrollTo({ top: ${top}, behavior: 'instant' })`)
      await engine.turnWheel(2000)
      await sleep(200)
      const aside = await engine.run(
        'return [scrollX, document.documentElement.scrollWidth - document.documentElement.clientWidth]',
      )
      expect(aside, `${width} px`).toEqual([0, 0])
    }
  }
})

it('the menus open and lead on', async () => {
  await engine.goto(url)
  await ready()
  await engine.click('.products-button')
  await eventually(() =>
    engine.run<boolean>('return document.querySelector(".products-menu").matches(":popover-open")'),
  )
  await engine.click('.products-menu a')
  await eventually(async () => expect(await engine.run('return location.pathname')).toBe(productPath(products[0])))
})

it('staff enter the desk by a link, mark an enquiry and leave', async () => {
  const { reference = '' } = await submit(site.url, anOrder())
  const token = await site.inspect((db) => createLink(db, { email: STAFF, leadsTo: '/staff' }))
  const shows = (text: string) =>
    eventually(async () => expect(await engine.run('return document.body.innerText')).toContain(text))
  await engine.goto(`${url}/staff/enter?token=${token}`)
  await engine.click('main button')
  await shows('Asha Verma')
  await engine.click('.enquiry-actions button')
  await shows('Asha Verma: Contacted')
  const row = await site.inspect((db) => db.enquiry.findUnique({ where: { reference } }))
  expect(row?.status).toBe('Contacted')
  await engine.click('.desk-head button')
  await shows('Your mail address')
})
