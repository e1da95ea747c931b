// `npm test` says in a sentence what is forgotten or missing, before it runs anything.
// Not in `npm test`: it runs that command itself, on a copy with a changed schema and with a broken browser.
import { cp, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { runShell } from '../support/staff-command.ts'

it('a forgotten migration is told first, and no test is run', async () => {
  const folder = await aFolder('quvera-forgotten-')
  for (const path of ['package.json', 'prisma', 'server', 'shared'])
    await cp(path, join(folder, path), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const schema = join(folder, 'prisma/schema.prisma')
  const before = await readFile(schema, 'utf8')
  await writeFile(schema, before.replace(/^ {2}mobile .*$/m, '$&\n  city String @default("")'))
  const now = new Date()
  await utimes(join(folder, 'server/database/generated/client.ts'), now, now) // else it is generated anew
  const { code, stdout, stderr } = await runShell(`cd ${folder} && npm test`, { HOME: process.env.HOME ?? '' })
  expect(code).toBe(1)
  expect(stderr).toContain('prisma/schema.prisma has changes without a migration. npm run migration -- WHAT writes it:')
  expect(stderr).toContain('ADD COLUMN     "city" TEXT')
  expect(stdout).not.toContain('Test Files')
})

it('without a browser it says what is missing, and what runs the rest', async () => {
  const CHROMIUM = join(await aFolder('quvera-no-chromium-'), 'chromium')
  const missing = 'error while loading shared libraries: libnss3.so: cannot open shared object file'
  await writeFile(CHROMIUM, `#!/bin/sh\necho '${missing}' >&2\nexit 127\n`, { mode: 0o755 })
  const test = (options: string) =>
    runShell(`node_modules/.bin/vitest run --config tests/vitest.config.ts ${options}`, { CHROMIUM })
  const stopped = await test('--project client --project e2e')
  expect(stopped.code).toBe(1)
  expect(stopped.stderr).toContain(`Chromium does not start here (${missing}). Install one`)
  expect(stopped.stderr).toContain('the rest runs: npm test -- --project shared --project server')
  expect(stopped.stdout).not.toContain('✓')
  expect(await test('--project shared --project server tests/lock')).toMatchObject({ code: 0 })
})
