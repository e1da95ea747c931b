import type { AppliedMigration } from '../database/tables.ts'

/**
 * A backup is gzip of lines. One that begins with @ is about the file, every other one is a row in JSON, as
 * PostgreSQL writes and reads it:
 *   @{"format":"quvera-backup","version":1,"madeAt":…,"migrations":[{"name":…,"checksum":…}]}
 *   @{"table":…,"columns":[…]} and then its rows; so each table, parents before their children
 *   @{"end":true,"rows":…,"sha256":…} with the number of all rows, and the checksum of all lines before
 */
export const FORMAT = 'quvera-backup'
export const FORMAT_VERSION = 1
const MARK = '@'

export interface Head {
  format: typeof FORMAT
  version: number
  madeAt: string
  migrations: AppliedMigration[]
}

export interface TableMark {
  table: string
  columns: string[]
}

export interface End {
  end: true
  rows: number
  sha256: string
}

export function markLine(mark: Head | TableMark | End): string {
  return MARK + JSON.stringify(mark)
}

/** What a line says of the file; undefined for a row. */
export function readMark(line: string): Partial<Head & TableMark & End> | undefined {
  return line.startsWith(MARK) ? JSON.parse(line.slice(MARK.length)) : undefined
}
