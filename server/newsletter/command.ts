import { pipeline } from 'node:stream/promises'
import { formatCount } from '../../shared/count.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { asciiEmail } from '../../shared/typed-text.ts'
import { createCsv } from '../csv.ts'
import type { Db } from '../database/database.ts'
import { publicUrlOf } from '../env.ts'
import { subscriptionLink } from '../mail/templates.ts'
import { type AddCommand, printTable, type Terminal } from '../terminal.ts'

export function subscribersCommand(add: AddCommand, terminal: Terminal) {
  add('subscribers')
    .description('list who gets the newsletter, each with the link that ends it; --csv for the tool that sends')
    .option('--csv', 'only the confirmed ones: nothing may be sent to anybody else')
    .option('--remove <address>', 'only end this subscription, also one that is not confirmed')
    .action(({ csv, remove }: { csv?: boolean; remove?: string }) =>
      terminal.onDatabase((db) =>
        remove === undefined ? listSubscribers(terminal, db, csv) : removeSubscriber(terminal, db, remove),
      ),
    )
}

async function removeSubscriber({ print, recordAccess }: Terminal, db: Db, address: string) {
  const where = { email: asciiEmail(address).toLowerCase() }
  await recordAccess(db, formatCount(await db.subscriber.count({ where }), 'subscription'))
  const { count } = await db.subscriber.deleteMany({ where })
  print(count > 0 ? 'The subscription is ended, and the address is no longer in the list.' : 'No such subscription.')
}

async function listSubscribers(terminal: Terminal, db: Db, csv = false) {
  const { env, errors, print } = terminal
  const orderBy = { subscribedAt: 'asc' } as const
  const rows = await db.subscriber.findMany({ where: csv ? { confirmedAt: { not: null } } : {}, orderBy })
  await terminal.recordAccess(db, formatCount(rows.length, 'subscription'))
  const unconfirmed = await db.subscriber.count({ where: { confirmedAt: null } })
  const total = formatCount(rows.length, 'address', 'addresses')
  const columns = ['Email', 'Confirmed', 'Link']
  const records = rows.map((row) => ({
    Email: row.email,
    Confirmed: row.confirmedAt ? formatIndianTime(row.confirmedAt) : 'no',
    Link: subscriptionLink(row, publicUrlOf(env())),
  }))
  if (!csv) {
    printTable(terminal, records)
    return print(`${total}, ${unconfirmed} of them not confirmed.`)
  }
  await pipeline(records, createCsv(columns), terminal.output)
  errors.write(`${total}; ${unconfirmed} not confirmed left out: anybody can have typed them.\n`)
  if (!env().PUBLIC_URL) errors.write('PUBLIC_URL is not set here: the links lead to this machine.\n')
}
