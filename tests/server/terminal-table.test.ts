// A table fits the terminal, keeps its columns with characters of any width, and shows no control character.
import { Writable } from 'node:stream'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { printTable } from '../../server/staff/output.ts'

const rows = [
  { Ref: 'QV-1', Name: 'Asha Verma', Note: 'wants a rebate' },
  { Ref: 'QV-2', Name: 'शान्ति', Note: '' },
]

function table(records: Record<string, string>[], columns?: number): string[] {
  const lines: string[] = []
  const terminal = {
    output: Object.assign(new Writable(), columns && { columns }),
    print: (line: string) => lines.push(line),
  }
  printTable(terminal, records)
  return lines
}

describe('a table', () => {
  it('has columns as wide as their widest cell, counting combining marks as zero', () => {
    expect(table(rows)).toEqual(['Ref   Name        Note', 'QV-1  Asha Verma  wants a rebate', `QV-2  शान्ति`])
  })

  it('counts two cells for characters that take two', () => {
    const wide = [
      { Ref: 'QV-1', Name: '王小明', Note: 'a' },
      { Ref: 'QV-2', Name: 'Asha 🌿', Note: 'b' },
    ]
    expect(table(wide)).toEqual(['Ref   Name     Note', 'QV-1  王小明   a', 'QV-2  Asha 🌿  b'])
  })

  it('has no column that is empty in every row, and nothing without rows', () => {
    expect(table(rows.map((row) => ({ ...row, Note: '' })))).toEqual(['Ref   Name', 'QV-1  Asha Verma', 'QV-2  शान्ति'])
    expect(table([])).toEqual([])
  })

  it('is cut at the width of the terminal', () => {
    expect(table(rows, 29)).toEqual(['Ref   Name        Note', 'QV-1  Asha Verma  wants a re…', 'QV-2  शान्ति'])
    expect(table(rows, 11)).toEqual(['Ref   Name…', 'QV-1  Asha…', 'QV-2  शान्ति'])
    for (let width = 4; width < 60; width++)
      for (const line of table(rows, width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  })

  it('replaces control characters', () => {
    const [, line] = table([{ Ref: 'QV-1', Name: 'a\u001b[2Jb\r\nc\u202ed' }])
    expect(line).toBe('QV-1  a [2Jb c d')
  })
})
