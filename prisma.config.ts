import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { defineConfig } from 'prisma/config'
import './server/dotenv.mjs'

// Prisma's native schema engine is a download that some networks refuse. Generating, validating and Studio do not run
// it, but look for its file: without it they find a script that answers what to do instead, and fails.
const prismaPackage = createRequire(import.meta.url).resolve('prisma/package.json')
const engines = dirname(createRequire(prismaPackage).resolve('@prisma/engines/package.json'))
const downloaded = existsSync(engines) && readdirSync(engines).some((name) => name.startsWith('schema-engine-'))
if (!downloaded) process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= resolve(import.meta.dirname, 'prisma/no-schema-engine.mjs')

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Nothing listens at the default address: Prisma wants a URL even to generate.
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:54329/postgres' },
})
