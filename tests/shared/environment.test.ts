// .env.example names every variable and sets nothing but the defaults.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { envSchema, readEnv } from '../../server/env.ts'

const project = resolve(import.meta.dirname, '../..')

const example = parseEnv(await readFile(resolve(project, '.env.example'), 'utf8'))

it('.env.example names every variable and sets nothing but the defaults', () => {
  expect(Object.keys(example).sort()).toEqual(Object.keys(envSchema.shape).sort())
  expect(readEnv(example)).toEqual(readEnv({}))
})
