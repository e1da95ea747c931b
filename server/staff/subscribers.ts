import type { Db } from '../database/database.ts'
import { linkOf } from '../enquiries/subscribers.ts'
import { publicUrlOf } from '../env.ts'
import { count, inIndia } from '../words.ts'
import { type AddCommand, printTable, type Terminal, writeCsv } from './output.ts'

export function subscribersCommand(add: AddCommand, terminal: Terminal) {
  add('subscribers')
    .summary('list who gets the newsletter, each with the link that ends it; --csv for the tool that sends')
    .option('--csv', 'only the confirmed ones: nothing may be sent to anybody else')
    .description(`Every newsletter has to carry its receiver's own link, best also as the headers List-Unsubscribe: <link> and
List-Unsubscribe-Post: List-Unsubscribe=One-Click (RFC 8058). The links begin with PUBLIC_URL. Export anew before each
newsletter: who has left is not in it. An address that is not confirmed may have been typed by anybody.`)
    .action(({ csv }: { csv?: boolean }) =>
      terminal.onDatabase((db) => (csv ? writeSubscribers(terminal, db) : listSubscribers(terminal, db))),
    )
}

export function unsubscribeCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
  add('unsubscribe')
    .summary('end a subscription, also one that is not confirmed')
    .argument('<address>', 'in any case')
    .action(async (address: string) => {
      await terminal.onDatabase(async (db) => {
        const { count: ended } = await db.subscriber.deleteMany({ where: { email: address.trim().toLowerCase() } })
        await terminal.noteAccess(db, count(ended, 'subscription', 'subscriptions'))
        print(ended > 0 ? 'The subscription is ended, and the address forgotten.' : 'No such subscription.')
      })
    })
}

const columns = ['Email', 'Confirmed', 'Link'] as const

async function read(terminal: Terminal, db: Db, where = {}) {
  const rows = await db.subscriber.findMany({ where, orderBy: { subscribedAt: 'asc' } })
  await terminal.noteAccess(db, count(rows.length, 'subscription', 'subscriptions'))
  const publicUrl = publicUrlOf(terminal.env())
  return rows.map((row) => ({
    Email: row.email,
    Confirmed: row.confirmedAt ? inIndia(row.confirmedAt) : 'no',
    Link: linkOf(row, publicUrl),
  }))
}

async function listSubscribers(terminal: Terminal, db: Db) {
  const rows = await read(terminal, db)
  const cells = columns.map((title) => ({ title, cell: (row: (typeof rows)[number]) => row[title] }))
  printTable(terminal, cells, rows)
  const unconfirmed = rows.filter(({ Confirmed }) => Confirmed === 'no').length
  terminal.print(`${count(rows.length, 'address', 'addresses')}, ${unconfirmed} of them not confirmed.`)
}

/** For the tool that sends. */
async function writeSubscribers(terminal: Terminal, db: Db) {
  const { env, errors } = terminal
  const rows = await read(terminal, db, { confirmedAt: { not: null } })
  await writeCsv(terminal, [...columns], rows)
  const left = (await db.subscriber.count()) - rows.length
  const told = count(rows.length, 'address', 'addresses')
  errors.write(`${told}; ${left} not confirmed left out: anybody can have typed them.\n`)
  if (!env().PUBLIC_URL) errors.write('PUBLIC_URL is not set here: the links lead to this machine.\n')
}
