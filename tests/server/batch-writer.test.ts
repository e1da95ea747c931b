// Rows that arrive together are written by few statements, and a row that is refused does not fail the others.
import { describe, expect, it } from 'vitest'
import { createBatchWriter } from '../../server/enquiries/batch-writer.ts'

class RowError extends Error {}
const isRowError = (error: unknown) => error instanceof RowError

/** A writer over a table in memory that refuses the rows named `bad` and breaks at those named `gone`. */
function aWriter() {
  const statements: string[][] = []
  const write = createBatchWriter<string, string>(async (rows) => {
    statements.push(rows)
    if (rows.includes('gone')) throw new Error('the connection broke')
    if (rows.includes('bad')) throw new RowError()
    return 'stored'
  }, isRowError)
  const outcomes = (rows: string[]) =>
    Promise.all(rows.map((row) => write(row).catch((error: Error) => (isRowError(error) ? 'refused' : 'failed'))))
  return { statements, outcomes }
}

describe('rows that arrive together', () => {
  it('are written by few statements: all that wait by one', async () => {
    const { statements, outcomes } = aWriter()
    expect(new Set(await outcomes(['a', 'b', 'c', 'd', 'e']))).toEqual(new Set(['stored']))
    expect(statements).toEqual([['a'], ['b', 'c', 'd', 'e']])
  })

  it('are at most 256 a statement', async () => {
    const { statements, outcomes } = aWriter()
    await outcomes(Array.from({ length: 600 }, (_, number) => `row ${number}`))
    expect(statements.map(({ length }) => length)).toEqual([1, 256, 256, 87])
  })

  it('are stored when one of them is rejected', async () => {
    const { outcomes } = aWriter()
    expect(await outcomes(['a', 'bad', 'c'])).toEqual(['stored', 'refused', 'stored'])
    expect(await outcomes(['a', 'b', 'bad', 'c', 'bad'])).toEqual(['stored', 'stored', 'refused', 'stored', 'refused'])
  })
})

it('are not tried one by one once the database fails', async () => {
  const statements: string[][] = []
  const write = createBatchWriter<string, string>(async (rows) => {
    statements.push(rows)
    if (rows.length > 1) throw new RowError()
    if (rows[0] === 'b') throw new Error('the connection broke')
    return 'stored'
  }, isRowError)
  const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map(write))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
  expect(statements).toEqual([['a'], ['b', 'c', 'd'], ['b']])
})

it('fail together while the database is unavailable, and are written again afterwards', async () => {
  const { statements, outcomes } = aWriter()
  const rows = ['gone', ...Array.from({ length: 300 }, (_, index) => `row ${index}`)]
  expect(new Set(await outcomes(rows))).toEqual(new Set(['failed']))
  expect(statements).toHaveLength(1)
  expect(await outcomes(['a'])).toEqual(['stored'])
})
