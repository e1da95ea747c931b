// A first start on a terminal ends with the address, where mails wait, and a link to the desk.
// Not in `npm test`: it needs a terminal, which `script` of util-linux gives.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'

/** A built program on a terminal. Returns the lines that it shows, and its end. */
function onTerminal(command: string, env: Record<string, string>) {
  const words = ['-qec', `${process.execPath} ${resolve('dist/server', command)}`, '/dev/null']
  const terminal = spawn('script', words, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  terminal.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const ended = once(terminal, 'exit')
  atEnd(() => {
    terminal.kill('SIGTERM')
    return ended
  })
  return { lines: () => stripVTControlCharacters(text).split(/\r?\n/), ended }
}

it('a first start ends with the address, where mails wait and a link to the desk', async () => {
  const DATA_DIR = await aFolder('quvera-first-')
  const { lines } = onTerminal('main.js', { DATA_DIR, PORT: String(await freePort()) })
  // Past the logger, whose lines may be kept: no time is before it.
  const isLink = (line: string) => /^http:\/\/localhost:\d+\/staff\/enter\?token=[\w-]{43}$/.test(line)
  await eventually(() => lines().some(isLink))
  const at = lines().findIndex((line) => line.includes(' is at http://'))
  expect(lines()[at + 1]).toMatch(/RESEND_API_KEY is not set: mails wait in the database/)
  expect(lines()[at + 2]).toMatch(/Enquiries: http:\/\/localhost:\d+\/staff$/)
  expect(lines()[lines().findIndex(isLink) - 1]).toBe(
    'Enquiries, for staff (once, within 15 minutes; then npm run -s staff -- sign-in):',
  )
})

it('a backup is not written to a terminal', async () => {
  const { lines, ended } = onTerminal('staff.js backup -', await aDatabase())
  expect(await ended).toEqual([2, null])
  expect(lines().join('\n')).toContain('A backup is not shown in a terminal: write it to a file with > FILE')
})
