#!/usr/bin/env node
console.error(
  'Prisma asked for its native schema engine, which is not installed here. Migrations are applied when the server starts; write a new one with `npm run migration -- <name>`.',
)
process.exit(1)
