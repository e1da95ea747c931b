// The line for cron in docs/backup.md keeps whole backups only, for its own user, and deletes old ones only then.
// Not in `npm test`: it runs a line of a document, and nothing of the site.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'

const [, line = ''] = /^17 2 \* \* \* backup (.+)$/m.exec(readFileSync('docs/backup.md', 'utf8')) ?? []
const TODAY = `quvera-${new Date().toLocaleDateString('sv')}.sql.gz`

/** Runs it as cron does, with this `ssh`, in a folder with a backup of yesterday and one of forty days ago. */
async function run(ssh: string) {
  const folder = await aFolder('quvera-cron-')
  for (const [name, days] of Object.entries({ 'quvera-old.gz': 40, 'quvera-new.gz': 1 })) {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), new Date(), new Date(Date.now() - days * 86_400_000))
  }
  writeFileSync(join(folder, 'sent'), gzipSync('a backup'))
  writeFileSync(join(folder, 'ssh'), `#!/bin/sh\n${ssh}\n`, { mode: 0o700 })
  const { stdout, stderr } = spawnSync('sh', ['-c', line.replaceAll('\\%', '%').replaceAll('/backup', folder)], {
    env: { PATH: `${folder}:${process.env.PATH}`, SENT: join(folder, 'sent') },
    encoding: 'utf8',
  })
  return { said: stdout + stderr, folder, backups: readdirSync(folder).filter((name) => name.endsWith('.gz')) }
}

it('a whole backup is kept, what is old is deleted, and nothing is said', async () => {
  const { said, folder, backups } = await run('cat $SENT; echo Wrote 6 rows >&2')
  expect(said).toBe('')
  expect(backups.sort()).toEqual([TODAY, 'quvera-new.gz'].sort())
  expect(statSync(join(folder, TODAY)).mode & 0o777).toBe(0o600)
})

it.each(['exit 1', 'echo no route >&2; exit 1', 'head -c 20 $SENT', 'cat $SENT; exit 255'])(
  'a failure is told and deletes nothing: %s',
  async (ssh) => {
    const { said, folder, backups } = await run(ssh)
    expect(said).toContain(`No backup at ${join(folder, TODAY)}: ${ssh.startsWith('echo') ? 'no route' : ''}\n`)
    expect(backups).toContain('quvera-old.gz')
    expect(existsSync(join(folder, TODAY))).toBe(false)
  },
)
