import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { launch } from 'puppeteer-core'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

/** A browser that is not Chromium, with as much of it as the tests use. */
export interface Engine {
  goto(url: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** Runs the body of a function in the page. */
  run<T>(body: string): Promise<T>
  click(selector: string): Promise<void>
  turnWheel(deltaX: number): Promise<void>
  close(): Promise<void>
}

export const engines: Record<string, () => Promise<Engine>> = { firefox: startFirefox, webkit: startWebKit }

async function startFirefox(): Promise<Engine> {
  const browser = await launch({ browser: 'firefox', executablePath: '/usr/bin/firefox-esr' })
  const page = await browser.newPage()
  return {
    goto: async (url) => void (await page.goto(url)),
    resize: (width, height) => page.setViewport({ width, height }),
    run: (body) => page.evaluate(`(() => { ${body} })()`) as never,
    click: (selector) => page.click(selector),
    turnWheel: async (deltaX) => {
      await page.mouse.move(200, 20)
      await page.mouse.wheel({ deltaX })
    },
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
  return {
    goto: (url) => post('/url', { url }),
    resize: (width, height) => post('/window/rect', { width, height }),
    run: (body) => post('/execute/sync', { script: body, args: [] }),
    click: async (value) => {
      const element = (await post('/element', { using: 'css selector', value })) as Record<string, string>
      await post(`/element/${element[ELEMENT]}/click`, {})
    },
    turnWheel: (deltaX) => {
      const turn = { type: 'scroll', x: 200, y: 20, deltaX, deltaY: 0, duration: 0 }
      return post('/actions', { actions: [{ type: 'wheel', id: 'wheel', actions: [turn] }] })
    },
    close: async () => {
      await call('DELETE', session)
      for (const child of children) child.kill()
    },
  }
}
