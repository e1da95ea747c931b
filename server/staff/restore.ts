import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ClientBase, QueryResult } from 'pg'
import type { Database, Db } from '../database/database.ts'
import { applyRoles, migrate, readMigrations } from '../database/migrations.ts'
import { fillTables, openBackup, prepareTables } from '../database/restore.ts'
import { describeFailure, OperatorError } from '../errors.ts'
import { formatCount, staffCommand } from '../format.ts'
import { inProject } from '../project-root.ts'
import type { AddCommand, Terminal } from './output.ts'

export function restoreCommand(add: AddCommand, terminal: Terminal) {
  const { env, input, print } = terminal
  add('restore')
    .description('fill an empty database from a backup')
    .argument('<file>', 'that "backup" has written, also with an older version of the site; - is standard input')
    .option(
      '--moved',
      'the site moved here and has not run since the backup: pending mails are sent, and subscriptions stay confirmed. Without it mails are withheld and subscriptions unconfirmed',
    )
    .action(async (file: string, { moved: siteHasNotRun = false }: { moved?: boolean }) => {
      const name = file === '-' ? 'standard input' : resolve(file)
      // Before a database is made: a file that is no backup makes none.
      const backup = await openBackup(file === '-' ? input : createReadStream(file), name)
      let withheld = 0
      let unconfirmed = 0
      async function complete(client: ClientBase) {
        if (siteHasNotRun) return
        const statements = await readFile(inProject('server/database/after-pg-restore.sql'), 'utf8')
        // pg answers several statements with an array, which its types do not know.
        const [mails, subscribers] = (await client.query(statements)) as unknown as QueryResult[]
        withheld = mails?.rowCount ?? 0
        unconfirmed = subscribers?.rowCount ?? 0
      }
      // The tables as they were in the backup, its rows, later migrations, and only then the statements, which name today's
      // tables. Without later migrations these belong to the transaction of the rows.
      const restore = async (client: ClientBase) => {
        await prepareTables(client, backup)
        const isOlder = backup.migrations.length < (await readMigrations()).length
        const rows = await fillTables(client, backup, name, async () => {
          if (!isOlder) await complete(client)
        })
        if (isOlder)
          await migrate(client)
            .then(() => complete(client))
            .catch((cause) => {
              throw new OperatorError(
                `The rows were restored, and then the restore failed: ${describeFailure(cause)} Do not start the site on this database: restore into an empty one.`,
                { cause },
              )
            })
        if (!env().DATABASE_URL) await applyRoles(client)
        return rows
      }
      const work = async (db: Db, { withClient }: Database) => {
        const rows = await withClient(restore)
        await terminal.recordAccess(db, formatCount(rows, 'row', 'rows'))
        print(`Restored ${formatCount(rows, 'row', 'rows')} of the backup made at ${backup.madeAt}.`)
      }
      await terminal.onDatabase(work, { create: true, anyVersion: true })
      if (withheld > 0)
        print(
          `Withheld: ${formatCount(withheld, 'mail', 'mails')} that were pending in the backup. ${staffCommand('mails')} lists them.`,
        )
      if (unconfirmed > 0)
        print(
          `No longer confirmed: ${formatCount(unconfirmed, 'subscription', 'subscriptions')}, because people may have unsubscribed since the backup. With --moved they stay confirmed.`,
        )
    })
}
