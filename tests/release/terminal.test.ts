// A first start on a terminal ends with the address, where mails wait, and a link to the desk. A paused terminal does not
// hold up the site.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

/** The built site with a first start, on a terminal that `script` gives it. */
async function aTerminal(env: Record<string, string> = {}) {
  const PORT = String(await freePort())
  const command = `${process.execPath} ${resolve(import.meta.dirname, '../../dist/server/main.js')}`
  const terminal: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, DATA_DIR: await aFolder('quvera-first-', tmpdir()), PORT, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  terminal.stdout?.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const ended = once(terminal, 'exit')
  atEnd(() => {
    terminal.kill('SIGTERM')
    return ended
  })
  const lines = () => stripVTControlCharacters(text).split(/\r?\n/)
  await eventually(() => lines().some((line) => line.includes('PUBLIC_URL is not set'))) // the last line of the start
  return { terminal, lines, url: `http://127.0.0.1:${PORT}` }
}

it('a first start on a terminal ends with the address, where mails wait and a link to the desk', async () => {
  const { lines } = await aTerminal()
  const at = lines().findIndex((line) => line.includes(' is at http://'))
  expect(lines()[at + 1]).toMatch(
    /RESEND_API_KEY is not set: mails wait in the database \(npm run -s staff -- mails\)$/,
  )
  expect(lines()[at + 2]).toMatch(/Enquiries: http:\/\/localhost:\d+\/staff$/)
  // Past the logger, whose lines may be kept: no time is before it.
  const isLink = (line: string) => /^http:\/\/localhost:\d+\/staff\/enter\?token=[\w-]{43}$/.test(line)
  await eventually(() => lines().some(isLink))
  expect(lines()[lines().findIndex(isLink) - 1]).toBe(
    'Enquiries, for staff (once, within 15 minutes; then npm run -s staff -- sign-in):',
  )
})

it('while the terminal is paused all is answered, and afterwards it says how many lines were lost', async () => {
  const { terminal, lines, url } = await aTerminal({ RATE_LIMIT_MAX: '0', LOG_LEVEL: 'debug' })
  terminal.kill('SIGSTOP')
  for (let number = 0; number < 200; number++) expect((await submit(url, anOrder())).status).toBe(200)
  for (let number = 0; number < 4000; number++) expect((await fetch(`${url}/healthz`)).status).toBe(200)
  terminal.kill('SIGCONT')
  const told = () => lines().flatMap((line) => /(\d+) lines of this log were lost/.exec(line)?.[1] ?? [])
  await eventually(() => expect(told()).toHaveLength(1))
  const written = lines().filter((line) => /\/healthz|order\.submit|enquiry stored/.test(line)).length
  expect(written + Number(told()[0])).toBe(4000 + 2 * 200)
})
