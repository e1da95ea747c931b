// A lease has one holder until its time is over, and a lease from before the clock was set back blocks nobody.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLeased, takeLease } from '../../server/database/lease.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const take = (name: string, holder: string) => takeLease(database.db, name, holder, 10)

it('a lease is one holder’s until its time is over', async () => {
  expect([await take('one', 'a'), await take('one', 'b'), await take('one', 'a')]).toEqual([true, false, true])
  await database.db.$executeRaw`UPDATE "Quvera_Lease" SET "Until" = now() - interval '1 second'`
  expect([await take('one', 'b'), await take('one', 'a')]).toEqual([true, false])
})

it('a lease from before the clock was set back is no longer anybody’s', async () => {
  await take('back', 'a')
  await database.db.$executeRaw`UPDATE "Quvera_Lease" SET "Until" = "Until" + interval '1 hour' WHERE "Name" = 'back'`
  expect(await isLeased(database.db, 'back', 10)).toBe(false)
  expect([await take('back', 'b'), await take('back', 'a')]).toEqual([true, false])
  expect(await isLeased(database.db, 'back', 10)).toBe(true)
  expect(await isLeased(database.db, 'never taken', 10)).toBe(false)
})
