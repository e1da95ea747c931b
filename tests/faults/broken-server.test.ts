// The tests with killed processes fail for a server that is broken on purpose, so they would notice such a fault.
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { variants } from '../support/broken-servers.ts'
import { report } from '../support/fault-fixtures.ts'
import { runShell } from '../support/staff-command.ts'

const SUITE = 'node node_modules/vitest/vitest.mjs run --config tests/vitest.faults.config.ts killed'

it.each(variants)('the suite turns red for a server that $broken', { timeout: 600_000 }, async (variant) => {
  const { broken, file, from, to, noticedBy, figure, isNone = false } = variant
  const copy = await aFolder('quvera-broken-', tmpdir())
  for (const part of ['server', 'shared', 'prisma', 'package.json'])
    await cp(part, join(copy, part), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  const source = await readFile(join(copy, file), 'utf8')
  expect(source).toContain(from)
  await writeFile(join(copy, file), source.replace(from, to))
  const env = { HOME: process.env.HOME ?? '', SERVER_ROOT: copy }
  const { code, stdout } = await runShell(`${SUITE} -t '${noticedBy}'`, env)
  const value = Number(new RegExp(`"${figure}":(\\d+)`).exec(stdout)?.[1])
  report(broken, { [figure]: value })
  if (isNone) expect(value).toBe(0)
  else expect(value).toBeGreaterThan(0)
  expect(code).toBe(1)
})
