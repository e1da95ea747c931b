// A Prisma command that needs the native schema engine says so, and says what to use instead.
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runProgram } from '../support/staff-command.ts'

const hasEngine = readdirSync('node_modules/@prisma/engines').some((name) => name.startsWith('schema-engine-'))

it.skipIf(hasEngine).each([
  ['migrate', 'status'],
  ['migrate', 'deploy'],
  ['migrate', 'dev'],
  ['db', 'push'],
  ['db', 'pull', '--print'],
])('prisma %s %s says that it needs the native schema engine, and what to use instead', async (...command) => {
  const { code, stderr } = await runProgram('node_modules/prisma/build/index.js', command, {
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  })
  expect(code).toBe(1)
  expect(stderr).toContain("Prisma's native schema engine is not installed here")
  expect(stderr).toContain('npm run staff -- migrate')
})
