import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { retryMails, withholdMails } from '../mail/by-hand.ts'
import { endHold } from '../mail/plan.ts'
import { states } from '../mail/states.ts'
import { count } from '../words.ts'
import { subtractAge } from './age.ts'
import { type Command, parse, UsageError } from './command.ts'
import { listAllMails, listOwedMails } from './owed-mails.ts'

const options = {
  all: { type: 'boolean', default: false },
  failed: { type: 'boolean', default: false },
  'include-unknown': { type: 'boolean', default: false },
  restored: { type: 'boolean', default: false },
  'older-than': { type: 'string' },
} as const

const ACTIONS = ['the list', 'retry', 'withhold', 'release']

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
       npm run -s staff -- mails release

Tells first of which enquiries nobody has been told, then which visitors have to be rung, then which mails are owed, and
at the end the oldest enquiry that is still New. With --failed what is only Pending is left out; --all lists the newest
mails whatever became of them. The state of a mail tells that it

${Object.entries(states)
  .map(([state, { means }]) => `  ${state.padEnd(12)}${means}`)
  .join('\n')}

A notice may tell of many enquiries at once; what becomes of it becomes of their own.

retry makes mails due now: those named, or all that are Pending or Failed, also those that Resend took and could not
send. The running site then sends them; a bundle's notices go out anew. An Unknown mail may have been sent already: the
try had no clear answer, and Resend no longer remembers it. Look into Resend's log first; with --include-unknown it is
sent too, and the receiver may get a second copy. With --restored mails go out that a restored database holds back:
first look whether they were sent after the backup. Mails that are Sent, Delivered, Bounced or Complained, and mails
withheld for another reason, are never sent again.

withhold says that mails are not to be sent: those named that are Pending, Failed or Unknown, or all that are Pending
and about enquiries older than so many days (7d) or months (2m). The enquiries stay.

release lets acknowledgements go out that are held, because too many of the last ones were turned away.`,
  async run(args, env) {
    const { values, positionals } = parse(args, options, { positionals: true })
    const [action = 'the list', ...words] = positionals
    if (!ACTIONS.includes(action)) throw new UsageError(`mails cannot "${action}"`)
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
    const hasKey = Boolean(key)
    await withDatabase(settings, async ({ db }) => {
      if (action === 'retry') {
        const which = { ids, includeUnknown: values['include-unknown'], includeRestored: values.restored }
        return retry(db, which, hasKey)
      }
      if (action === 'withhold') return withhold(db, before ? { before } : { ids })
      if (action === 'release') return release(db)
      return values.all ? listAllMails(db) : listOwedMails(db, { onlyFailed: values.failed, hasKey })
    })
  },
}

async function retry(db: Db, which: Parameters<typeof retryMails>[1], hasKey: boolean) {
  const { due, left } = await retryMails(db, which)
  const fate = hasKey
    ? 'the running site sends them'
    : 'but RESEND_API_KEY is not set here: nothing is sent until the site runs with one'
  console.log(`${count(due, 'mail is', 'mails are')} due now; ${fate}.`)
  if (left > 0) {
    console.log(
      `Left: ${count(left, 'mail', 'mails')} that may have been sent already. See Resend's log, then --include-unknown.`,
    )
  }
  tellOthers(which.ids.length - due - left)
}

async function withhold(db: Db, which: Parameters<typeof withholdMails>[1]) {
  const withheld = await withholdMails(db, which)
  console.log(`${count(withheld, 'mail is', 'mails are')} withheld: never sent, unless a try is under way just now.`)
  const along =
    'ids' in which ? await db.mail.findMany({ where: { id: { in: which.ids }, NOT: { bundledInto: null } } }) : []
  for (const { id, bundledInto } of along) console.log(`Left: mail ${id}, which goes along in bundle ${bundledInto}.`)
  tellOthers('ids' in which ? which.ids.length - withheld - along.length : 0)
}

function tellOthers(number: number) {
  if (number > 0) console.log(`Left: ${count(number, 'mail', 'mails')} that are sent, withheld or not there.`)
}

async function release(db: Db) {
  const held = await endHold(db)
  console.log(held > 0 ? 'Acknowledgements go out again.' : 'Acknowledgements are not held.')
}
