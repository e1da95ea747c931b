// A first start on a terminal ends with the address, where mails wait, and a link to the desk.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { freePort } from '../support/server-process.ts'

it('a first start on a terminal ends with the address, where mails wait and a link to the desk', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quvera-first-'))
  atEnd(() => rm(dataDir, { recursive: true, force: true }))
  const main = resolve(import.meta.dirname, '../../dist/server/main.js')
  // `script` gives it a terminal.
  const command = `timeout -s TERM 8 ${process.execPath} ${main}`
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: String(await freePort()) }
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { env }).catch(
    (error) => error,
  )
  const lines = stripVTControlCharacters(String(stdout))
    .split('\n')
    .map((line) => line.trimEnd())
  const at = lines.findIndex((line) => line.includes(' is at http://'))
  expect(lines[at + 1]).toMatch(/RESEND_API_KEY is not set: mails wait in the database \(npm run -s staff -- mails\)$/)
  expect(lines[at + 2]).toMatch(/Enquiries: http:\/\/localhost:\d+\/staff$/)
  // Past the logger, whose lines may be kept: a line has no time before it.
  const link = lines.findIndex((line) => /^http:\/\/localhost:\d+\/staff\/enter\?token=[\w-]{43}$/.test(line))
  expect(lines[link - 1]).toBe('Enquiries, for staff (once, within 15 minutes; then npm run -s staff -- sign-in):')
}, 60_000)
