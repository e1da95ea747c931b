import { hostname, userInfo } from 'node:os'
import type { Db } from '../database/database.ts'
import { describeFailure } from '../errors.ts'
import { count } from '../words.ts'
import { type AddCommand, type Column, printTable, type Terminal, timeCell } from './output.ts'

const LIMIT = 50
const NAMED_MAX = 5

/**
 * Writes down that a command shows, exports, changes or erases people's data. Where that cannot be, as on a read replica
 * or a full disk, the command goes on and says so.
 * @param what the references, or how many of what; nothing about a person
 */
export async function noteAccess(
  { command, env, errors }: { command: string } & Pick<Terminal, 'env' | 'errors'>,
  ...[db, what]: Parameters<Terminal['noteAccess']>
): Promise<void> {
  const words = typeof what === 'string' ? what : enquiriesOf(what)
  const who = `${env().STAFF_NAME ?? userName()}@${hostname()}`
  await db.access.createMany({ data: { who, command, what: words } }).catch((error) => {
    errors.write(`This access is not written down in Quvera_Access: ${describeFailure(error)}\n`)
  })
}

function enquiriesOf(rows: { reference: string }[]): string {
  const isShort = rows.length > 0 && rows.length <= NAMED_MAX
  return isShort ? rows.map(({ reference }) => reference).join(' ') : count(rows.length, 'enquiry', 'enquiries')
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

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
