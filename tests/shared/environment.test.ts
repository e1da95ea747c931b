import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { envSchema, readEnv } from '../../server/env.ts'

const project = resolve(import.meta.dirname, '../..')

const example = parseEnv(await readFile(resolve(project, '.env.example'), 'utf8'))

it('docs/configuration.md has a row for every variable that the server reads, with its default', async () => {
  const table = await readFile(resolve(project, 'docs/configuration.md'), 'utf8')
  const rows = [...table.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \| (.*) \|$/gm)].filter(
    ([, , , effect = '']) => !effect.startsWith('compose only'),
  )
  expect(rows.map(([, name]) => name).sort()).toEqual(Object.keys(envSchema.shape).sort())
  for (const [, name = '', cell = ''] of rows) if (example[name]) expect(cell, name).toContain(`\`${example[name]}\``)
})

it('.env.example names every variable and sets nothing but the defaults', () => {
  expect(Object.keys(example).sort()).toEqual(Object.keys(envSchema.shape).sort())
  expect(readEnv(example)).toEqual(readEnv({}))
})
