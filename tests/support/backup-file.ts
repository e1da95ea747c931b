import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

/**
 * The rows of a backup, table by table, without the rows of the access log.
 * @throws Error when they are not those of the checksum
 */
export function readBackup(file: Uint8Array): string[] {
  const text = gunzipSync(file).toString()
  const lines = text.trimEnd().split('\n')
  const end = JSON.parse(lines.pop()?.replace(/^@/, '') ?? '')
  const checksum = createHash('sha256')
    .update(`${lines.join('\n')}\n`)
    .digest('hex')
  const rows = lines.filter((line) => !line.startsWith('@'))
  if (end.sha256 !== checksum || end.rows !== rows.length) throw new Error('The backup is damaged')
  return rows.filter((row) => !/"Command":/.test(row))
}

export interface BackupContent {
  migrations: string[]
  madeAt?: string
  tables: Record<string, { columns: string[]; rows: object[] }>
}

/** The text of a backup as the site writes it. */
export function backupText({ migrations, madeAt = '2026-11-22T12:00:00.000Z', tables }: BackupContent): string {
  const head = {
    format: 'quvera-backup',
    version: 1,
    madeAt,
    migrations: migrations.map((name) => ({ name, checksum: '0'.repeat(64) })),
  }
  const all = Object.entries(tables)
  const lines = [
    `@${JSON.stringify(head)}`,
    ...all.flatMap(([table, { columns, rows }]) => [
      `@${JSON.stringify({ table, columns })}`,
      ...rows.map((row) => JSON.stringify(row)),
    ]),
  ]
  return sign(`${lines.join('\n')}\n`)
}

/** Ends these lines with their count and checksum; replaces an end that is there. */
export function sign(text: string): string {
  const lines = text.replace(/@\{"end".*\n$/, '')
  const rows = lines.split('\n').filter((line) => line && !line.startsWith('@')).length
  return `${lines}@${JSON.stringify({ end: true, rows, sha256: createHash('sha256').update(lines).digest('hex') })}\n`
}
