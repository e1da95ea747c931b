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
import { freePort } from '../support/server-process.ts'

it('a first start on a terminal ends with the address, where mails wait and a link to the desk', async () => {
  const env = { PATH: process.env.PATH, DATA_DIR: await aFolder('quvera-first-'), PORT: String(await freePort()) }
  const command = `${process.execPath} ${resolve('dist/server/main.js')}`
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(terminal, 'exit')
  atEnd(() => {
    terminal.kill('SIGTERM')
    return ended
  })
  let text = ''
  terminal.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const lines = () => stripVTControlCharacters(text).split(/\r?\n/)
  // Past the logger, whose lines may be kept: no time is before it.
  const isLink = (line: string) => /^http:\/\/localhost:\d+\/staff\/enter\?token=[\w-]{43}$/.test(line)
  await eventually(() => lines().some(isLink))
  const at = lines().findIndex((line) => line.includes(' is at http://'))
  expect(lines()[at + 1]).toMatch(/Enquiries: http:\/\/localhost:\d+\/staff$/)
  expect(lines()[at + 2]).toMatch(/RESEND_API_KEY is not set: mails wait in the database/)
  expect(lines()[lines().findIndex(isLink) - 1]).toBe(
    'Enquiries, for staff (once, within 15 minutes; then npm run -s staff -- sign-in):',
  )
})
