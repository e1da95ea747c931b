import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { openTestDatabase } from '../support/test-database.ts'

const NAMES = `
  SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
  UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
  UNION ALL SELECT typname FROM pg_type WHERE typnamespace = current_schema()::regnamespace
  UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
  UNION ALL SELECT enumlabel FROM pg_enum`

it('the template for another product name leaves no old name in the database', async () => {
  const { db, close } = await openTestDatabase()
  const read = async () => (await db.$queryRawUnsafe<{ name: string }[]>(NAMES)).map(({ name }) => name).sort()
  const before = await read()
  expect(before).toEqual(expect.arrayContaining(['Quvera 300', 'Quvera_mailbox']))
  await db.$executeRawUnsafe(await readFile('prisma/rename-product.sql', 'utf8'))
  // PostgreSQL names the arrays of its types itself, and cuts their names differently.
  const bare = (names: string[]) => names.filter((name) => !name.startsWith('_'))
  expect(bare(await read())).toEqual(bare(before.map((name) => name.replace('Quvera', 'Newname'))).sort())
  await close()
})
