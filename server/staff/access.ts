import type { Db } from '../database/database.ts'
import { type AddCommand, type Column, printTable, type Terminal, timeCell } from './output.ts'

const LIMIT = 50

type Row = Awaited<ReturnType<Db['access']['findMany']>>[number]

const columns: Column<Row>[] = [
  { title: 'IST', cell: ({ at }) => timeCell(at) },
  { title: 'Who', cell: ({ who }) => who, min: 12 },
  { title: 'Role', cell: ({ role }) => role, spare: 1 },
  { title: 'Command', cell: ({ command }) => command },
  { title: 'What', cell: ({ what }) => what, min: 12 },
]

export function accessCommand(add: AddCommand, terminal: Terminal) {
  add('access')
    .summary("tell who has looked at people's data or changed it, newest first")
    .option('--all', `more than the last ${LIMIT}`)
    .description(`Each command that shows, exports, changes or erases people's data writes a line, and so does each start of Studio. Nobody
can change one, and it is kept for a year. What became of one enquiry: show REFERENCE.`)
    .action(({ all }: { all?: boolean }) =>
      terminal.onDatabase(async (db) => {
        const rows = await db.access.findMany({ orderBy: { at: 'desc' }, ...(!all && { take: LIMIT }) })
        printTable(terminal, columns, rows)
      }),
    )
}
