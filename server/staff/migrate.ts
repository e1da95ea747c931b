import { withDatabase } from '../database/open-database.ts'
import { type Command, parse } from './command.ts'

/** For a server that runs with a role that may not change tables: the owner of the tables runs this first. */
export const migrateCommand: Command = {
  summary: 'bring the tables up to date, as the server does when it starts',
  help: `Usage: npm run -s staff -- migrate

Applies what prisma/migrations holds and the database lacks. The server does so itself when it starts; this is for
a server whose role may not change tables (prisma/roles.sql): run it with the owner's DATABASE_URL before the server.`,
  async run(args, env) {
    parse(args, {})
    await withDatabase({ ...env(), make: true, migrate: true }, async ({ notes }) => {
      if (notes.length === 0) console.log('The tables are up to date.')
    })
  },
}
