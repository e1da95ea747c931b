import { withDatabase } from '../database/open-database.ts'
import type { AddCommand, Terminal } from './output.ts'

/** For a server that runs with a role that may not change tables: the owner of the tables runs this first. */
export function migrateCommand(add: AddCommand, { env, print }: Terminal) {
  add('migrate')
    .summary('bring the tables up to date, as the server does when it starts')
    .description(`Applies what prisma/migrations holds and the database lacks. The server does so itself when it starts; this is for
a server whose role may not change tables (prisma/roles.sql): run it with the owner's DATABASE_URL before the server.`)
    .action(() =>
      withDatabase({ ...env(), make: true, migrate: true }, async ({ notes }) => {
        if (notes.length === 0) print('The tables are up to date.')
      }),
    )
}
