import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { report } from '../support/fault-stage.ts'

const project = resolve(import.meta.dirname, '../..')

interface Variant {
  broken: string
  file: string
  from: string
  to: string
  /** The test that must notice, and the figure that must not be 0. */
  noticedBy: string
  figure: string
}

const variants: Variant[] = [
  {
    broken: 'answers before it saves',
    file: 'server/enquiries/orders.ts',
    from: 'const { allNew } = await write(enquiry)',
    to: 'const allNew = true; write(enquiry).catch(() => {})',
    noticedBy: 'three kills',
    figure: 'lost',
  },
  {
    broken: 'keeps the mails under way in memory only',
    file: 'server/mail/owed.ts',
    from: '"AmbiguousAt" = coalesce(mail."AmbiguousAt", now())',
    to: `"AmbiguousAt" = now(), "Status" = 'Sent'`,
    noticedBy: 'kills in the middle of sending',
    figure: 'mailsMissing',
  },
  {
    broken: 'sends without an idempotency key',
    file: 'server/mail/resend.ts',
    from: '{ idempotencyKey, signal }',
    to: '{ signal }',
    noticedBy: 'kills in the middle of sending',
    figure: 'mailsDoubled',
  },
]

it.each(variants)(
  'the suite turns red for a server that $broken',
  async ({ broken, file, from, to, noticedBy, figure }) => {
    const copy = await mkdtemp(join(tmpdir(), 'quvera-broken-'))
    try {
      for (const part of ['server', 'shared', 'prisma', 'package.json'])
        await cp(join(project, part), join(copy, part), { recursive: true })
      await symlink(join(project, 'node_modules'), join(copy, 'node_modules'))
      const source = await readFile(join(copy, file), 'utf8')
      expect(source, `${file} no longer holds what this variant breaks`).toContain(from)
      await writeFile(join(copy, file), source.replace(from, to))
      const { code, output } = await runSuite(copy, noticedBy)
      const value = Number(new RegExp(`"${figure}":(\\d+)`).exec(output)?.[1])
      report(broken, { [figure]: value })
      expect(value).toBeGreaterThan(0)
      expect(code).toBe(1)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  },
)

function runSuite(serverRoot: string, test: string): Promise<{ code: number | null; output: string }> {
  const vitest = join(project, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--config', 'tests/vitest.faults.config.ts', 'server-killed', '-t', test]
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: project, env: { ...process.env, SERVER_ROOT: serverRoot, VITEST_REPORTS: '' }, maxBuffer: 1e8 },
      (_error, stdout, stderr) => done({ code: child.exitCode, output: stdout + stderr }),
    )
  })
}
