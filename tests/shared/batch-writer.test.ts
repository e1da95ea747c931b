// Rows that arrive together are written by few statements, and a row that is refused does not fail the others.
import { expect, it } from 'vitest'
import { createBatchWriter } from '../../server/orders/batch-writer.ts'

class RowError extends Error {}

/** A table in memory that refuses the row `bad`, and breaks at the row `gone`. */
function write(rows: string[]) {
  if (rows.includes('bad')) return Promise.reject(new RowError())
  return rows.includes('gone') ? Promise.reject(new Error('the connection broke')) : Promise.resolve('stored')
}

it.each<[rows: string, outcomes: string, statements: string]>([
  ['a b c d e', 'stored stored stored stored stored', 'a | b c d e'],
  ['a bad c', 'stored refused stored', 'a | bad c | bad | c'],
  ['a b bad c bad', 'stored stored refused stored refused', 'a | b bad c bad | b | bad | c | bad'],
  ['a gone b c', 'stored failed failed failed', 'a | gone b c'], // together, and not each after a time limit
  ['a b bad gone c', 'stored stored refused failed failed', 'a | b bad gone c | b | bad | gone'],
])('%s: %s, by %s', async (rows, outcomes, statements) => {
  const written: string[] = []
  const store = createBatchWriter<string, string>(
    (batch) => {
      written.push(batch.join(' '))
      return write(batch)
    },
    (error) => error instanceof RowError,
  )
  const results = rows
    .split(' ')
    .map((row) => store(row).catch((error) => (error instanceof RowError ? 'refused' : 'failed')))
  expect((await Promise.all(results)).join(' ')).toBe(outcomes)
  expect(written.join(' | ')).toBe(statements)
  expect(await store('later')).toBe('stored')
})
