import pg from 'pg'
import { socketFolder } from '../../server/embedded/data-dir.ts'
import { atEnd } from './at-end.ts'

/** A connection as psql has it: the role that staff work as in the embedded database, or the owner of a server's. */
export async function aClient({ DATABASE_URL, DATA_DIR = '' }: Record<string, string>): Promise<pg.Client> {
  const client = new pg.Client(DATABASE_URL ?? { host: socketFolder(DATA_DIR), user: 'postgres', database: 'postgres' })
  client.on('error', () => {}) // where the server ends it, the next query fails
  await client.connect()
  atEnd(() => client.end())
  return client
}
