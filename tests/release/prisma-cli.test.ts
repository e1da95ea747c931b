// A Prisma command that needs the native schema engine says so, and what to use instead.
// Not in `npm test`: it tries Prisma's own program, on an install without that engine.
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runProgram } from '../support/staff-command.ts'

const hasEngine = readdirSync('node_modules/@prisma/engines').some((name) => name.startsWith('schema-engine-'))

it.skipIf(hasEngine)('prisma migrate deploy leads to `staff migrate`', async () => {
  const { code, stderr } = await runProgram('node_modules/prisma/build/index.js', ['migrate', 'deploy'], {
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  })
  expect(code).toBe(1)
  expect(stderr).toContain("Prisma's native schema engine is not installed here")
  expect(stderr).toContain('npm run staff -- migrate')
})
