// A table of the staff command has straight columns and shows no control character.
import { expect, it } from 'vitest'
import { printTable } from '../../server/terminal.ts'

function table(records: Record<string, string>[]): string[] {
  const lines: string[] = []
  printTable({ print: (line) => lines.push(line) }, records)
  return lines
}

it('has columns as wide as their widest cell, without empty ones', () => {
  const rows = [
    { Id: '7', Reference: 'QV-7K3M9P', Reason: '' },
    { Id: '8123', Reference: '', Reason: '' },
  ]
  expect(table(rows)).toEqual(['Id    Reference', '7     QV-7K3M9P', '8123'])
  expect(table([])).toEqual([])
})

it('turns what would move the cursor or hide a text into spaces', () => {
  const [, line] = table([{ Reason: 'a\u001b[2Jb\nc\u202ed\u2028e' }])
  expect(line).toBe('a [2Jb c d e')
})
