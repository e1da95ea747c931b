// In the browser engine that BROWSER names, an order is received whether its scripts arrive, come late or are lost.
// The menus lead on, and staff can work at the desk. Not in `npm test`: it needs that browser.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { launch } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { actTexts } from '../../client/content/your-enquiry.ts'
import { createLink } from '../../server/desk/sessions.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import type { Act } from '../../shared/form-outcome.ts'
import { messages } from '../../shared/order.ts'
import { orderPaths } from '../../shared/page-paths.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { typedOrder } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { startSite } from '../support/site.ts'
import { sendOrder } from '../support/your-enquiry.ts'

/** As much of a browser as the tests use. */
interface Engine {
  goto(url: string): Promise<void>
  /** Runs the body of a function in the page. */
  run<T>(body: string): Promise<T>
  click(selector: string): Promise<void>
  close(): Promise<void>
}

const SIZE = { width: 1280, height: 900 }
const engines: Record<string, () => Promise<Engine>> = { firefox: startFirefox, webkit: startWebKit }

async function startFirefox(): Promise<Engine> {
  const browser = await launch({ browser: 'firefox', executablePath: '/usr/bin/firefox-esr' })
  const page = await browser.newPage()
  await page.setViewport(SIZE)
  return {
    goto: async (url) => void (await page.goto(url)),
    run: (body) => page.evaluate(`(() => { ${body} })()`) as never,
    click: (selector) => page.click(selector),
    close: () => browser.close(),
  }
}

const MINI_BROWSER = ['4.1', '6.0', '4.0']
  .map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`)
  .find(existsSync)
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'

/** WebKitGTK's own WebDriver, spoken to by plain HTTP, on a screen that nobody sees. */
async function startWebKit(): Promise<Engine> {
  const port = await freePort()
  const display = `:${port}`
  const children: ChildProcess[] = [
    spawn('Xvfb', [display, '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], { stdio: 'ignore' }),
    spawn('WebKitWebDriver', [`--port=${port}`], {
      stdio: 'ignore',
      env: { ...process.env, DISPLAY: display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1' },
    }),
  ]
  async function call(method: string, path: string, body?: object) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    })
    const { value } = (await answer.json()) as { value: never }
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(value)}`)
    return value
  }
  await eventually(() => call('GET', '/status'))
  const options = { binary: MINI_BROWSER, args: ['--automation'] }
  const { sessionId } = (await call('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
  })) as { sessionId: string }
  const session = `/session/${sessionId}`
  const post = (path: string, body: object) => call('POST', session + path, body)
  await post('/window/rect', SIZE)
  return {
    goto: (url) => post('/url', { url }),
    run: (body) => post('/execute/sync', { script: body, args: [] }),
    click: async (value) => {
      const element = (await post('/element', { using: 'css selector', value })) as Record<string, string>
      await post(`/element/${element[ELEMENT]}/click`, {})
    },
    close: async () => {
      await call('DELETE', session)
      for (const child of children) child.kill()
    },
  }
}

const NOTHING = /^$/
/** Files that are not found, and those that never arrive. */
let lost = NOTHING
let stalled = NOTHING

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
  network = createServer((incoming, response) => {
    const { url: path = '', method, headers } = incoming
    if (stalled.test(path)) return
    if (lost.test(path)) return void response.writeHead(404).end()
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
  network?.closeAllConnections()
  network?.close()
  await site?.close()
})
beforeEach(async () => {
  lost = stalled = NOTHING
  await site.inspect((db) => db.enquiry.deleteMany())
})

const shows = (text: string) =>
  eventually(async () => expect(await engine.run('return document.body.innerText')).toContain(text))
const ready = () => eventually(() => engine.run<boolean>('return document.documentElement.hasAttribute("data-ready")'))

describe.each(orderPaths)('on %s an order is received', (path) => {
  it.each([
    ['by all scripts', NOTHING, NOTHING],
    ['when no script is found', /^\/assets\/.*\.js$/, NOTHING],
    ['when the scripts of the form stall', NOTHING, /\/hydrate-/],
  ])('%s', async (_, notFound, stalling) => {
    lost = notFound
    stalled = stalling
    await engine.goto(url + path)
    if (lost === NOTHING) await ready()
    await engine.run(`
      const filled = ${JSON.stringify({ ...typedOrder, mobile: '98765 43210' })}
      for (const [name, value] of Object.entries(filled)) document.querySelector('#order [name=' + name + ']').value = value
      document.querySelector('#order [type=submit]').scrollIntoView({ block: 'center', behavior: 'instant' })`)
    await engine.click('#order [type=submit]')
    await shows(messages.received)
    const reference = await engine.run('return document.querySelector(".reference").textContent')
    const rows = await site.inspect((db) => db.enquiry.findMany())
    expect(rows.map((row) => row.reference)).toEqual([reference])
  })
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

it('the visitor mends an enquiry on its page, is out of it and back, has it erased and kept', async () => {
  const { link, reference } = await sendOrder(site.url)
  async function press(selector: string) {
    await engine.run(`document.querySelector('${selector}').scrollIntoView({ block: 'center', behavior: 'instant' })`)
    await engine.click(selector)
  }
  async function openAndPress(act: Act, typed = '') {
    await press(`details:has([value=${act}]) summary`)
    if (typed) await engine.run(`document.querySelector('#act-${act}').value = '${typed}'`)
    await press(`[value=${act}]`)
  }
  await engine.goto(url + link)
  await openAndPress('mobile', '99711 12345')
  await shows('ending in 2345')
  await openAndPress('withdraw')
  await shows('You told us on')
  await press('[value=resume]')
  await shows(actTexts.mobile.title)
  await openAndPress('erase', reference.toLowerCase())
  await shows('It will be erased after')
  await press('[value=keep]')
  await shows(actTexts.erase.title)
  expect(await engine.run('return document.scripts.length')).toBe(0)
  const rows = await site.inspect((db) => db.historyEntry.findMany({ orderBy: { id: 'asc' } }))
  const done = rows.map(({ what }) => what).filter((what) => what !== 'Reminder')
  expect(done).toEqual(['Proposal', 'Withdrawn', 'Taken back', 'Erasure', 'Kept'])
})

it('staff enter the desk by a link, mark an enquiry and leave', async () => {
  const { reference = '' } = await submit(site.url, anOrder())
  const token = await site.inspect((db) => createLink(db, { email: STAFF, leadsTo: '/staff' }))
  await engine.goto(`${url}/staff/enter?token=${token}`)
  await engine.click('main button')
  await shows('1 new')
  await engine.click('[aria-label="Mark contacted: Asha Verma"]')
  await eventually(async () => {
    // what the page shows at once is stored a little later
    const row = await site.inspect((db) => db.enquiry.findUnique({ where: { reference } }))
    expect(row?.status).toBe('Contacted')
  })
  await engine.click('.signed-in > button')
  await shows('Your mail address')
})
