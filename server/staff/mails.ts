import { withDatabase } from '../database/open-database.ts'
import { subtractAge } from './age.ts'
import { type Command, parse, UsageError } from './command.ts'
import { listAllMails, listOwedMails } from './owed-mails.ts'
import { retryMails } from './retry-mails.ts'
import { withholdMails } from './withhold-mails.ts'

const options = {
  all: { type: 'boolean', default: false },
  failed: { type: 'boolean', default: false },
  'include-unknown': { type: 'boolean', default: false },
  restored: { type: 'boolean', default: false },
  'older-than': { type: 'string' },
} as const

/** Which option belongs to what is done. */
const belongings: Record<string, string> = {
  all: 'the list',
  failed: 'the list',
  'include-unknown': 'retry',
  restored: 'retry',
  'older-than': 'withhold',
}

export const mailsCommand: Command = {
  summary: 'tell which mails are owed or did not arrive; send them again, or not at all',
  help: `Usage: npm run -s staff -- mails [--failed | --all]
       npm run -s staff -- mails retry [ID …] [--include-unknown] [--restored]
       npm run -s staff -- mails withhold ID … | --older-than 7d

Tells first of which enquiries nobody has been told, then which visitors have to be rung, then which mails are owed, and
at the end the oldest enquiry that is still New. Pending waits for its next try, Failed was refused for good, Bounced was
turned away by the receiver, Complained was marked as spam, and Unknown may have been sent or not. With --failed what is
only Pending is left out; --all lists the newest mails whatever became of them, also Sent and Delivered.

retry makes mails due now: those named, or all that are Pending or Failed. The running site then sends them.
An Unknown mail may have been sent already: the try had no clear answer, and Resend no longer remembers it. Look into
Resend's log first; with --include-unknown it is sent too, and the receiver may get a second copy.
With --restored mails go out that a restored database holds back: first look whether they were sent after the backup.
Mails that Resend has taken, whatever became of them, and mails withheld for another reason are never sent again.

withhold says that mails are not to be sent: those named that are Pending, Failed or Unknown, or all that are Pending
and about enquiries older than so many days (7d) or months (2m). The enquiries stay.`,
  async run(args, env) {
    const { values, positionals } = parse(args, options, { positionals: true })
    const [action = 'the list', ...words] = positionals
    if (!Object.values(belongings).includes(action)) throw new UsageError(`mails cannot "${action}"`)
    const stray = Object.entries(values).find(([name, value]) => value && belongings[name] !== action)
    if (stray) throw new UsageError(`--${stray[0]} belongs to ${belongings[stray[0]]}`)
    if (values.all && values.failed) throw new UsageError('Say either --all or --failed')
    const bad = words.find((word) => !/^\d{1,18}$/.test(word))
    if (bad !== undefined) throw new UsageError(`"${bad}" is not the number of a mail`)
    const ids = words.map(BigInt)
    const age = values['older-than']
    if (action === 'withhold' && ids.length > 0 === (age !== undefined))
      throw new UsageError('Name the mails, or say --older-than 7d')
    const before = age === undefined ? undefined : subtractAge(new Date(), age)
    const { RESEND_API_KEY: key, ...settings } = env()
    await withDatabase(settings, async ({ db }) => {
      if (action === 'retry')
        return retryMails(db, {
          ids,
          includeUnknown: values['include-unknown'],
          includeRestored: values.restored,
          hasKey: Boolean(key),
        })
      if (action === 'withhold') return withholdMails(db, before ? { before } : { ids })
      return values.all ? listAllMails(db) : listOwedMails(db, { onlyFailed: values.failed })
    })
  },
}
