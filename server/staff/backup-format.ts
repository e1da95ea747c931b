import * as z from 'zod/mini'

/**
 * A backup is gzip of lines. One that begins with @ is about the file, every other one is a row in JSON, as
 * PostgreSQL writes and reads it:
 *   @{"format":"quvera-backup","version":1,"madeAt":…,"migrations":[{"name":…,"checksum":…}]}
 *   @{"table":…,"columns":[…]} and then its rows; so each table
 *   @{"end":true,"rows":…,"sha256":…} with the number of all rows, and the checksum of all lines before
 */
export const FORMAT = 'quvera-backup'
export const FORMAT_VERSION = 1
export const MARK = '@'

const name = z.string().check(z.regex(/^[\w-]{1,255}$/))

export const headSchema = z.object({
  format: z.literal(FORMAT),
  version: z.int(),
  madeAt: z.iso.datetime(),
  migrations: z.array(z.object({ name, checksum: z.string() })),
})
export const markSchema = z.union([
  z.object({ table: name, columns: z.array(name) }),
  z.object({ end: z.literal(true), rows: z.int(), sha256: z.string() }),
])

export type Head = z.infer<typeof headSchema>

export function markLine(mark: Head | z.infer<typeof markSchema>): string {
  return MARK + JSON.stringify(mark)
}
