import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { defineConfig } from 'prisma/config'

// Prisma's native schema engine is a download that some networks refuse. Generating, validating and Studio do not
// need it, but look for its file: without it they are shown one that fails loudly if it is ever run.
const prismaPackage = createRequire(import.meta.url).resolve('prisma/package.json')
const engines = dirname(createRequire(prismaPackage).resolve('@prisma/engines/package.json'))
const downloaded = existsSync(engines) && readdirSync(engines).some((name) => name.startsWith('schema-engine-'))
if (!downloaded) process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= resolve(import.meta.dirname, 'prisma/no-schema-engine.mjs')

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:54329/postgres' },
})
