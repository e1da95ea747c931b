#!/usr/bin/env node
// Answers in place of Prisma's native schema engine, with one message in the two forms that Prisma's CLI shows. `cli` and
// `--version` are one-shot calls: a line of JSON on stderr, after a first line that Prisma skips. Otherwise Prisma talks
// JSON-RPC over stdin: an error to each request.
import { createInterface } from 'node:readline'

const message = [
  "Prisma's native schema engine is not installed here, and nothing was done.",
  'Migrations are applied when the server starts, or by `npm run staff -- migrate`; `npm run migration -- what_changes` writes a new one.',
  'If you have the engine, name its file in PRISMA_SCHEMA_ENGINE_BINARY.',
].join('\n')

process.exitCode = 1
if (process.argv.some((argument) => argument === 'cli' || argument === '--version')) {
  process.stderr.write(`schema-engine\n${JSON.stringify({ fields: { message } })}`)
} else {
  for await (const request of createInterface({ input: process.stdin })) {
    const { id } = JSON.parse(request)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message, data: { message } } }))
  }
}
