import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { formatCount } from '../../shared/count.ts'
import type { Database, Db } from '../database/database.ts'
import { applyRoles } from '../database/migrations.ts'
import { openBackup, restoreBackup } from '../database/restore.ts'
import { staffCommand } from '../staff-command.ts'
import type { AddCommand, Terminal } from '../terminal.ts'

export function restoreCommand(add: AddCommand, terminal: Terminal) {
  const { env, input, print } = terminal
  add('restore')
    .description('fill an empty database from a backup')
    .argument('<file>', 'that "backup" has written, also with an older version of the site; - is standard input')
    .option(
      '--moved',
      'the site moved here and has not run since the backup: pending mails are sent, and subscriptions stay confirmed. Without it mails are withheld and subscriptions unconfirmed',
    )
    .action(async (file: string, { moved: hasMoved = false }: { moved?: boolean }) => {
      const name = file === '-' ? 'standard input' : resolve(file)
      // Before a database is made: a file that is no backup makes none.
      const backup = await openBackup(file === '-' ? input : createReadStream(file), name)
      const work = async (db: Db, { withClient }: Database) => {
        const restored = await withClient(async (client) => {
          const result = await restoreBackup(client, backup, hasMoved)
          if (!env().DATABASE_URL) await applyRoles(client)
          return result
        })
        const rows = formatCount(restored.rows, 'row')
        await terminal.recordAccess(db, rows)
        const ofErased =
          'What was erased since then is here again: the log names those of which somebody asked it (“erased, as somebody asked”), and none that a staff command erased. Erase them anew.'
        print(`Restored ${rows} of the backup made at ${backup.madeAt}.${hasMoved ? '' : ` ${ofErased}`}`)
        return restored
      }
      const { withheld, unconfirmed, toErase } = await terminal.onDatabase(work, { create: true, anyVersion: true })
      if (withheld > 0)
        print(
          `Withheld: ${formatCount(withheld, 'mail')} that were pending in the backup. ${staffCommand('mails')} lists those that can be sent again.`,
        )
      if (toErase > 0)
        print(
          `To be erased in 24 hours, as somebody had asked before the backup: ${formatCount(toErase, 'enquiry', 'enquiries')}. The desk shows them, and who wants to keep one has until then.`,
        )
      if (unconfirmed > 0)
        print(
          `No longer confirmed: ${formatCount(unconfirmed, 'subscription')}, because people may have unsubscribed since the backup. With --moved they stay confirmed.`,
        )
    })
}
