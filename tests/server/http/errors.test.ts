// A code of PostgreSQL is distinguished from the codes of Node and Prisma.

import { expect, it } from 'vitest'
import { sqlState } from '../../../server/database/errors.ts'

it.each(['57014', '42P01', '0A000', 'P0001', 'XX000', 'HV000', 'F0000'])('%s is a code of PostgreSQL', (code) => {
  expect(sqlState({ code })).toBe(code)
})

it.each(['EPIPE', 'EPERM', 'E2BIG', 'P1001', 'P2002', 'ECONNRESET'])('%s is no code of PostgreSQL', (code) => {
  expect(sqlState({ code })).toBeUndefined()
})
