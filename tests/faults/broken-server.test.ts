// The tests with killed processes fail for a server that is broken on purpose, so they would notice such a fault.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { variants } from '../support/broken-servers.ts'
import { report } from '../support/fault-fixtures.ts'

const project = resolve(import.meta.dirname, '../..')

it.each(variants)(
  'the suite turns red for a server that $broken',
  async ({ broken, file, from, to, noticedBy, figure }) => {
    const copy = await mkdtemp(join(tmpdir(), 'quvera-broken-'))
    try {
      for (const part of ['server', 'shared', 'prisma', 'package.json'])
        await cp(join(project, part), join(copy, part), { recursive: true })
      await symlink(join(project, 'node_modules'), join(copy, 'node_modules'))
      const source = await readFile(join(copy, file), 'utf8')
      expect(source).toContain(from)
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
  const args = [vitest, 'run', '--config', 'tests/vitest.faults.config.ts', 'killed', '-t', test]
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: project, env: { ...process.env, SERVER_ROOT: serverRoot, VITEST_REPORTS: '' }, maxBuffer: 1e8 },
      (_error, stdout, stderr) => done({ code: child.exitCode, output: stdout + stderr }),
    )
  })
}
