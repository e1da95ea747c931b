import { withDatabase } from '../database/open-database.ts'
import { digestText, hasNews, readDigest } from '../mail/digest.ts'
import { queueDigest } from '../mail/owed.ts'
import type { AddCommand, Terminal } from './output.ts'

export function digestCommand(add: AddCommand, { env, print }: Terminal) {
  add('digest')
    .summary('write one page about what waits and what did not arrive; mail it to staff')
    .option(
      '--send',
      'mail it to STAFF_EMAILS, through the running site, unless nothing waits and every mail has arrived',
    )
    .description(`One page: enquiries still New after 24 hours, mails that did not arrive, counts of the last seven days. The site mails
it by itself once a day when DIGEST_AT names a time.`)
    .action(async ({ send }: { send?: boolean }) => {
      const { RESEND_API_KEY: key, ...settings } = env()
      await withDatabase(settings, async ({ db }) => {
        const digest = await readDigest(db, new Date())
        print(digestText(digest))
        if (!send) return
        if (!hasNews(digest)) return print('\nThere is nothing to say, so nothing is sent.')
        await queueDigest(db, digestText(digest))
        print(
          key
            ? '\nQueued: the running site sends it to STAFF_EMAILS.'
            : '\nQueued, but RESEND_API_KEY is not set here: it waits until the site runs with one.',
        )
      })
    })
}
