import { formatAge, formatCount } from '../../shared/count.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { redact } from '../errors.ts'
import { hasBudget, kinds, queuedKinds, readCount } from '../mail/kinds.ts'
import { TO_RING } from '../mail/of-enquiry.ts'
import { MAY_SEND_AGAIN, retryMails } from '../mail/queue.ts'
import { states, withheldReasons } from '../mail/states.ts'
import { staffCommand } from '../staff-command.ts'
import { type AddCommand, printTable, type Terminal, UsageError } from '../terminal.ts'
import { findByReference, readReferences } from './person.ts'
import { countUntold, readOldestNewEnquiry, readProblems } from './problems.ts'

const LISTED_MAX = 200
/** Nobody has to act for a subscriber: anybody can type an address. */
const FAILED = Prisma.sql`mail."Status" IN ('Failed', 'Unknown') AND mail."Kind" NOT IN ('Confirmation', 'SignIn', 'Summary')`
/** The visitor does not learn that the enquiry is erased. */
const ERASED_UNTOLD = Prisma.sql`mail."Kind" = 'ErasureAsked' AND mail."WithheldBecause" IN ('ThreeADay', 'TooOld')
  AND form."EraseAt" IS NOT NULL AND NOT form."SuspectedSpam"`
const RESTORED = Prisma.sql`mail."WithheldBecause" = 'Restored' AND ${MAY_SEND_AGAIN}`

interface Section {
  title: string
  /** About `mail`, and `form`, which may be missing. */
  where: Prisma.Sql
  advice: string
}

/** Mails that need something from staff or an operator, the most urgent first. */
const sections: Section[] = [
  {
    title: 'To staff, and did not arrive',
    where: Prisma.sql`mail."To" IS NOT NULL AND mail."Status" IN ('Bounced', 'Complained') AND mail."SentAt" > now() - interval '7 days'`,
    advice: `${staffCommand('check --mail ADDRESS')} tries an address of STAFF_EMAILS.`,
  },
  {
    title: 'Visitors to ring',
    where: Prisma.sql`mail."Kind" = 'Acknowledgement' AND mail."Status" IN ('Bounced', 'Failed', 'Complained') AND ${TO_RING}`,
    advice: 'The address is wrong, or its owner wants no mail: ring the visitor, then mark the enquiry at the desk.',
  },
  {
    title: 'Not sent, and not tried again',
    where: Prisma.sql`(${FAILED} AND NOT (mail."Kind" = 'Acknowledgement' AND mail."Status" = 'Failed' AND form."Status" = 'New') OR ${ERASED_UNTOLD})`,
    advice: `${staffCommand('mails retry')} lists what it would send again. If a mail is Unknown, look into Resend's log first: it may have been sent.`,
  },
  {
    title: 'Withheld by a restore',
    where: RESTORED,
    advice: `Look into Resend's log whether it was sent after the backup. ${staffCommand('mails retry --yes')} sends all of them.`,
  },
  {
    title: 'Pending',
    where: Prisma.sql`mail."Status" = 'Pending'`,
    advice: 'A pending mail is sent by itself. The first lines say why it waits.',
  },
]

export function mailsCommand(add: AddCommand, terminal: Terminal) {
  const explained = [
    ...Object.entries(states).map(([state, { means }]) => `  ${state.padEnd(12)}it ${means}`),
    '',
    'A mail is withheld because:',
    ...Object.entries(withheldReasons).map(([reason, means]) => `  ${reason.padEnd(12)}${means}`),
  ]
  const mails = add('mails')
    .summary('show which mails wait or did not arrive, and why; send them again')
    .description(`The state of a mail:\n\n${explained.join('\n')}`)
    .action(() => terminal.onDatabase((db) => printMails(terminal, db)))
  retryCommand((name) => mails.command(name), terminal)
}

function retryCommand(add: AddCommand, terminal: Terminal) {
  const { env, print, onDatabase } = terminal
  add('retry')
    .description(
      'list the mails that can be sent once more. Of an enquiry also those that were withheld for another reason than a restore',
    )
    .argument('[reference...]', 'one enquiry; all failed, uncertain and restored mails unless given')
    .option('--yes', 'send them: the running site does it. The receiver of an Unknown one may get a second copy')
    .action(async (words: string[], { yes }: { yes?: boolean }) => {
      const references = readReferences(words)
      if (references.length > 1) throw new UsageError('Name one enquiry')
      await onDatabase(async (db) => {
        const [enquiry] = await findByReference(db, references)
        const chosen = enquiry ? Prisma.sql`form."Id" = ${enquiry.id}::uuid` : Prisma.sql`(${FAILED} OR ${RESTORED})`
        const where = Prisma.sql`${MAY_SEND_AGAIN} AND ${chosen}`
        if (yes) {
          const ids = await db.$queryRaw<{ id: bigint }[]>`SELECT mail."Id" AS "id" ${fromMails(where)}`
          const due = await retryMails(
            db,
            ids.map(({ id }) => id),
          )
          if (due === 0) return print('No mail can be sent once more. What is Pending is sent by itself.')
          const next = env().RESEND_API_KEY
            ? 'the running site sends them, as far as MAIL_DAILY_BUDGET allows'
            : 'but RESEND_API_KEY is not set here: no mail is sent until the site runs with one'
          return print(`${formatCount(due, 'mail is', 'mails are')} due now; ${next}.`)
        }
        const advice = 'Nothing was changed. Repeat the command with --yes.'
        const listed = await printSection(terminal, db, { where, title: 'These mails would be due', advice })
        if (listed === 0) print('No mail would be due.')
      })
    })
}

function fromMails(where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`FROM "Quvera_Mail" mail LEFT JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId" WHERE ${where}`
}

/** @returns how many mails it lists */
async function printSection(terminal: Terminal, db: Db, { where, title, advice }: Section) {
  const [{ total }] = await db.$queryRaw<[{ total: number }]>`SELECT count(*)::int AS "total" ${fromMails(where)}`
  if (total === 0) return 0
  const rows = await db.$queryRaw<({ Reason: string | null } & Record<string, string | Date | null>)[]>`
    SELECT mail."Id"::text AS "Id", form."Reference" AS "Reference", form."Mobile" AS "Mobile", mail."Kind"::text AS "Kind",
      concat_ws(', ', mail."Status", mail."WithheldBecause") AS "State", mail."QueuedAt" AS "Queued IST",
      mail."DueAt" AS "Next try IST", mail."To" AS "To", mail."LastError" AS "Reason", form."Name" AS "Name"
    ${fromMails(where)} ORDER BY mail."Id" LIMIT ${LISTED_MAX}`
  await terminal.recordAccess(db, formatCount(rows.length, 'mail'))
  terminal.print(`${title} (${total.toLocaleString('en-IN')})`)
  const redacted = rows.map((row) => ({ ...row, Reason: redact(row.Reason ?? '') })) // Resend may quote the address
  printTable(terminal, redacted)
  if (total > rows.length) terminal.print(`and ${total - rows.length} more`)
  terminal.print(`${advice}\n`)
  return total
}

async function printMails(terminal: Terminal, db: Db) {
  const { print } = terminal
  for (const reason of await readReasons(terminal, db)) print(`${reason}\n`)
  let listed = 0
  for (const section of sections) listed += await printSection(terminal, db, section)
  if (listed === 0) print('No mail waits.')
  const oldest = await readOldestNewEnquiry(db)
  if (!oldest) return
  const waiting = formatCount(
    await db.enquiry.count({ where: { status: 'New', suspectedSpam: false } }),
    'enquiry is',
    'enquiries are',
  )
  print(`${waiting} still New, the oldest for ${formatAge(oldest.seconds)}: ${oldest.reference}`)
}

/** What has to be mended, and why mails wait, by the settings here and the mails of the last 24 hours. */
async function readReasons({ env: readEnv }: Terminal, db: Db): Promise<string[]> {
  const env = readEnv()
  const reasons = await readProblems(db, env, { withAddresses: true })
  const untold = await countUntold(db)
  if (untold > 0) reasons.push(`${formatCount(untold, 'enquiry waits', 'enquiries wait')} for the next summary.`)
  const pending = await db.$queryRaw<{ kind: MailKind }[]>`
    SELECT DISTINCT "Kind"::text AS "kind" FROM "Quvera_Mail" WHERE "Status" = 'Pending'`
  const waits = (kind: MailKind) => pending.some((row) => row.kind === kind)
  if (waits('Post') && !env.NOTIFY_URL) reasons.push('NOTIFY_URL is not set here: unless the site has one, posts wait.')
  const waiting = queuedKinds.filter(waits)
  if (waiting.length === 0) return reasons
  if (!env.RESEND_API_KEY) return [...reasons, 'RESEND_API_KEY is not set here: unless the site has one, mails wait.']
  const { MAIL_DAILY_BUDGET: budget } = env
  const count = await readCount(db)
  for (const kind of waiting) {
    if (kinds[kind].needsPublicUrl && !env.PUBLIC_URL)
      reasons.push('Confirmation mails wait: PUBLIC_URL is not set here, and their links begin with it.')
    else if (!hasBudget(kind, budget, count))
      reasons.push(`${kind} mails wait: ${count} of the ${budget} mails of MAIL_DAILY_BUDGET are used in 24 hours.`)
  }
  return reasons
}
