import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { withDatabase } from '../database/open-database.ts'
import type { Env } from '../env.ts'
import { count, inIndia } from '../words.ts'
import { csvOptions } from './enquiry-csv.ts'

const columns = ['Email', 'Subscribed', 'ConsentVersion', 'Confirmed', 'SubscribedAt']

/** Nobody has confirmed an address: the list says so in each row, so that it is not mistaken for one to send to. */
export async function exportSubscribers(env: Env, output: Writable): Promise<void> {
  const rows = await withDatabase(env, ({ db }) => db.subscriber.findMany({ orderBy: { subscribedAt: 'asc' } }))
  const records = rows.map(({ email, subscribedAt, consentVersion }) => ({
    Email: email,
    Subscribed: inIndia(subscribedAt),
    ConsentVersion: consentVersion,
    Confirmed: false,
    SubscribedAt: subscribedAt.toISOString(),
  }))
  await pipeline(records, stringify({ ...csvOptions, columns, cast: { boolean: () => 'no' } }), output)
  console.error(
    `${count(rows.length, 'address', 'addresses')}, unconfirmed: anybody can have typed them. Nothing may be sent to them until they confirm.`,
  )
}
