import { withDatabase } from '../database/open-database.ts'
import { digestText, hasNews, readDigest } from '../mail/digest.ts'
import { queueDigest } from '../mail/owed.ts'
import { type Command, parse } from './command.ts'

export const digestCommand: Command = {
  summary: 'write one page about what waits and what did not arrive; mail it to staff',
  help: `Usage: npm run -s staff -- digest [--send]

One page: enquiries still New after 24 hours, mails that did not arrive, counts of the last seven days.

  --send   mail it to STAFF_EMAILS, through the running site, unless nothing waits and every mail has arrived

The site does so by itself once a day when DIGEST_AT names a time.`,
  async run(args, env) {
    const { send } = parse(args, { send: { type: 'boolean', default: false } }).values
    const settings = env()
    await withDatabase(settings, async ({ db }) => {
      const digest = await readDigest(db, new Date())
      console.log(digestText(digest))
      if (!send) return
      if (!hasNews(digest)) return console.log('\nThere is nothing to say, so nothing is sent.')
      await queueDigest(db, digestText(digest))
      console.log(
        settings.RESEND_API_KEY
          ? '\nQueued: the running site sends it to STAFF_EMAILS.'
          : '\nQueued, but RESEND_API_KEY is not set here: it waits until the site runs with one.',
      )
    })
  },
}
