// An operator can use the cron line, the moves between databases and the systemd unit as the documents give them.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough } from '../support/fake-resend.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { aDatabase, aServer } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { runShell, staff } from '../support/staff-command.ts'

describe('the line for cron', () => {
  const [, line = ''] = /^17 2 \* \* \* backup (.+)$/m.exec(readFileSync('docs/backup.md', 'utf8')) ?? []

  /** Runs it as cron does, in a folder with a backup of yesterday and one of forty days ago. */
  async function run(ssh: string) {
    const folder = await aFolder('quvera-operations-')
    for (const [name, days] of [
      ['quvera-old.gz', 40],
      ['quvera-new.gz', 1],
    ] as const) {
      writeFileSync(join(folder, name), '')
      utimesSync(join(folder, name), new Date(), new Date(Date.now() - days * 86_400_000))
    }
    const program = join(folder, 'ssh')
    writeFileSync(program, `#!/bin/sh\n${ssh}\n`, { mode: 0o700 })
    writeFileSync(join(folder, 'sent.gz'), gzipSync('a backup'))
    const said = spawnSync('sh', ['-c', line.replaceAll('\\%', '%').replaceAll('/backup', folder)], {
      env: { PATH: `${folder}:${process.env.PATH}`, FOLDER: folder },
      encoding: 'utf8',
    }).stdout
    const today = `quvera-${new Date().toLocaleDateString('sv')}.sql.gz`
    return { said, today: join(folder, today), left: readdirSync(folder).filter((name) => name.endsWith('.gz')) }
  }

  it('keeps what it gets for its own user, deletes what is old, and says nothing', async () => {
    const { said, today, left } = await run('cat $FOLDER/sent.gz')
    expect(said).toBe('')
    expect(left).not.toContain('quvera-old.gz')
    expect(left).toContain('quvera-new.gz')
    expect(statSync(today).mode & 0o777).toBe(0o600)
  })

  it.each(['exit 1', 'head -c 20 $FOLDER/sent.gz', 'cat $FOLDER/sent.gz; exit 255'])(
    'deletes nothing and tells it when ssh does: %s',
    async (ssh) => {
      const { said, today, left } = await run(ssh)
      expect(said).toBe(`No backup at ${today}\n`)
      expect(left).toContain('quvera-old.gz')
      expect(existsSync(today)).toBe(false)
    },
  )
})

describe.skipIf(!existsSync('/usr/lib/postgresql'))('the lines for compose', () => {
  const { setUp } = createFaultFixtures()
  const document = readFileSync('docs/backup.md', 'utf8')

  it('bring the site onto a restored backup, and then to PostgreSQL, with every enquiry and what is owed', async () => {
    const folder = await aFolder('quvera-operations-')
    /** What a line gives to the staff command in the container, with the files in a folder of ours. */
    async function run(words: string, env: Record<string, string>) {
      const lines = document.matchAll(
        /^.*docker (?:compose|exec|run) .*node dist\/server\/staff\.js (.*?)(?: && docker .*)?(?: +#.*)?$/gm,
      )
      expect([...lines].map(([, given]) => given)).toContain(words)
      const file = `${folder}/quvera-backup.sql.gz`
      const program = `node ${process.cwd()}/dist/server/staff.js`
      const line = `cd ${folder} && f=${file} && ${program} ${words.replaceAll('/root', folder)}`
      expect(await runShell(line, env)).toMatchObject({ code: 0 })
    }
    /** A visit to the site on a database: it has these enquiries, and gets one more. */
    async function visit(env: Record<string, string>, references: string[], until = async () => {}) {
      const site = await aServer(env)
      expect((await staff(['export'], env)).stdout.match(/QV-\w{6}/g) ?? []).toEqual(references)
      const { reference = '' } = await submit(site.url, anOrder())
      await until()
      await site.stop()
      return [...references, reference]
    }
    const siteIn = (name: string) => ({ DATA_DIR: join(folder, name), STAFF_EMAILS: STAFF })
    const [data, restored] = [siteIn('data'), siteIn('restored')]
    const { databaseUrl: DATABASE_URL, resend } = await setUp()
    const first = await visit(data, [])
    await run('backup - > $f.part && mv $f.part $f', data)
    await run('restore - < /root/quvera-backup.sql.gz', restored)
    const second = await visit(restored, first)
    await run('backup - > /root/move.gz', restored)
    await run('restore --moved - < /root/move.gz', { DATABASE_URL })
    // Those of the enquiry before the move and of the one after it: what was pending at the restore is withheld, and a
    // summary tells of it a minute later.
    const sent = () =>
      eventually(() => {
        const receivers = resend.mails.filter(({ subject }) => subject.includes('QV-')).map(({ to }) => to[0])
        expect(receivers.sort()).toEqual([...Array(2).fill(anOrder().email), STAFF, STAFF])
      })
    await visit({ DATABASE_URL, ...sendingThrough(resend) }, second, sent)
  })
})

describe('the unit for systemd', () => {
  const unit = readFileSync('deploy/quvera.service', 'utf8')

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'has nothing that systemd does not understand',
    async () => {
      const folder = await aFolder('quvera-operations-')
      const file = join(folder, 'quvera.service')
      writeFileSync(file, unit.replaceAll('/opt/quvera', process.cwd()))
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
      expect((stdout + stderr).split('\n').filter((each) => each.includes('quvera.service'))).toEqual([])
    },
  )

  it('lets the site write to each folder that the documents give as DATA_DIR', () => {
    const [, names = ''] = /^StateDirectory=(.+)$/m.exec(unit) ?? []
    const [folder] = names.split(' ')
    const given = ['docs/deploy.md', 'docs/backup.md'].flatMap(
      (file) => readFileSync(file, 'utf8').match(/(?<=DATA_DIR=)\/\S+/g) ?? [],
    )
    expect([...new Set(given)]).toEqual([`/var/lib/${folder}`, `/var/lib/${folder}/restored`])
  })

  it('starts the site, which ends at SIGTERM in time', async () => {
    const [, program = '', words = ''] = /^ExecStart=\/opt\/quvera\/(\S+) (.+)$/m.exec(unit) ?? []
    const port = String(await freePort())
    const site = spawn(program, words.split(' '), {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...(await aDatabase()), PORT: port },
      stdio: 'ignore',
    })
    const ended = new Promise((done) => site.once('exit', done))
    atEnd(() => site.kill('SIGKILL'))
    const [curl = ''] = /^curl .*127\.0\.0\.1:3000\/readyz$/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? []
    expect((await runShell(curl.replace('3000', port), {})).stdout).toBe('{"status":"ok"}')
    site.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

it('a backup is not written to a terminal', async () => {
  const env = { PATH: process.env.PATH, ...(await aDatabase()) }
  const words = ['-qec', `${process.execPath} dist/server/staff.js backup -`, '/dev/null']
  const { status, stdout } = spawnSync('script', words, { env, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stdout).toContain('A backup is not shown in a terminal: write it to a file with > FILE')
})
