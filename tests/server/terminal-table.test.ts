import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { type Column, tableLines } from '../../server/staff/output.ts'

type Row = { reference: string; name: string; note: string }
const columns: Column<Row>[] = [
  { title: 'Ref', cell: (row) => row.reference },
  { title: 'Name', cell: (row) => row.name, max: 20 },
  { title: 'Note', cell: (row) => row.note, max: 12 },
]
const rows: Row[] = [
  { reference: 'QV-1', name: 'Asha Verma', note: 'wants a rebate' },
  { reference: 'QV-2', name: 'शान्ति', note: '' },
]

describe('a table', () => {
  it('has columns as wide as their widest cell, counting combining marks as zero', () => {
    expect(tableLines(columns, rows)).toEqual([
      'Ref   Name        Note',
      'QV-1  Asha Verma  wants a rebate',
      `QV-2  शान्ति`,
    ])
  })

  it('counts two cells for characters that take two', () => {
    const wide = [
      { reference: 'QV-1', name: '王小明', note: 'a' },
      { reference: 'QV-2', name: 'Asha 🌿', note: 'b' },
    ]
    expect(tableLines(columns, wide)).toEqual(['Ref   Name     Note', 'QV-1  王小明   a', 'QV-2  Asha 🌿  b'])
  })

  it('is cut to the terminal: texts first, then other columns', () => {
    expect(tableLines(columns, rows, 80)[1]).toBe('QV-1  Asha Verma  wants a reb…')
    expect(tableLines(columns, rows, 33)[1]).toBe('QV-1  Asha Verma  wants a reb…')
    expect(tableLines(columns, rows, 27)).toEqual(['Ref   Name', 'QV-1  Asha Verma', 'QV-2  शान्ति'])
    expect(tableLines(columns, rows, 11)).toEqual(['Ref', 'QV-1', 'QV-2'])
    for (let width = 4; width < 60; width++)
      for (const line of tableLines(columns, rows, width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  })

  it('replaces control characters', () => {
    const [, line] = tableLines(columns, [{ reference: 'QV-1', name: 'a\u001b[2Jb\r\nc\u202ed', note: '' }])
    expect(line).toBe('QV-1  a [2Jb c d')
  })
})
