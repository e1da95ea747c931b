import { resolve } from 'node:path'
import pg from 'pg'
import { socketConnection } from '../../server/embedded/data-dir.ts'
import { atEnd } from './at-end.ts'

/** A connection as psql has it, as the owner of the tables. */
export async function aClient({ DATABASE_URL, DATA_DIR = '' }: Record<string, string>): Promise<pg.Client> {
  const client = new pg.Client(DATABASE_URL ?? { ...socketConnection(resolve(DATA_DIR)), user: 'quvera' })
  client.on('error', () => {}) // where the server ends it, the next query fails
  await client.connect()
  atEnd(() => client.end())
  return client
}
