import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { envSchema, readEnv } from '../../server/env.ts'

const project = resolve(import.meta.dirname, '../..')

it.each(['.env.example', 'docs/configuration.md'])('%s names every variable that the server reads', async (file) => {
  const text = await readFile(resolve(project, file), 'utf8')
  const named = new Set(text.match(/\b[A-Z][A-Z_]+\b/g))
  for (const name of Object.keys(envSchema.shape)) expect(named).toContain(name)
})

it('.env.example sets nothing but the defaults', async () => {
  const example = parseEnv(await readFile(resolve(project, '.env.example'), 'utf8'))
  expect(Object.keys(example).sort()).toEqual(Object.keys(envSchema.shape).sort())
  expect(readEnv(example)).toEqual(readEnv({}))
})
