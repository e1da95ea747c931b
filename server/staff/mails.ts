import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { SPAM_REASONS } from '../enquiries/insert-enquiries.ts'
import { OperatorError, redact } from '../errors.ts'
import { formatAge, formatCount, staffCommand } from '../format.ts'
import { readOldestNewEnquiry } from '../mail/backlog.ts'
import { limitOf, readCount } from '../mail/budget.ts'
import { transition } from '../mail/queue.ts'
import { IN_SUMMARY, mailKinds, NOT_ALONE, states, waitsForSummary } from '../mail/states.ts'
import { findByReference, joinPrefixes, readReferences, UsageError } from './input.ts'
import { findIds, type MailFilter, mailSections, printSection, withheldByRestore } from './mail-sections.ts'
import type { AddCommand, Terminal } from './output.ts'

const WITHHELD_BY_STAFF = 'Not sent: withheld by staff.'

export function mailsCommand(add: AddCommand, terminal: Terminal) {
  const mails = add('mails')
    .summary('show which mails wait or did not arrive, and why; send them again, or not at all')
    .description(`The state of a mail:

${Object.entries(states)
  .map(([state, { means }]) => `  ${state.padEnd(12)}it ${means}`)
  .join('\n')}`)
    .argument('[word]') // an unknown subcommand
    .action(async (word: string | undefined) => {
      if (word) throw new UsageError(`"${word}" is none of: retry, withhold`)
      await terminal.onDatabase((db) => printMails(terminal, db))
    })
  const addToMails: AddCommand = (name) => mails.command(name)
  retryCommand(addToMails, terminal)
  withholdCommand(addToMails, terminal)
}

function retryCommand(add: AddCommand, terminal: Terminal) {
  const { env, print } = terminal
  add('retry')
    .description('make mails due now: the running site sends them')
    .argument('[mails...]', 'their numbers, or the references of their enquiries')
    .option('--yes', 'all that are Pending or Failed; without it and without names the command only lists them')
    .option('--include-unknown', 'also those that may have been sent already: the receiver may get a second copy')
    .option('--restored', 'also those that a restore withheld')
    .action(async (words: string[], options: { yes?: boolean; includeUnknown?: boolean; restored?: boolean }) => {
      const { yes, includeUnknown, restored } = options
      const find = readMailNames(words)
      const isNamed = words.length > 0
      const { RESEND_API_KEY: key } = env()
      await terminal.onDatabase(async (db) => {
        // Chosen are the candidates that are unsent, or withheld for a reason that an option or their name lifts.
        const candidates = isNamed ? { id: { in: await find(db) } } : unsentMails
        const unsent: MailStatus[] = includeUnknown ? ['Pending', 'Failed', 'Unknown'] : ['Pending', 'Failed']
        const withheld = [...(restored ? [withheldByRestore] : []), ...(isNamed ? [withheldUntilNamed] : [])]
        const chosen = { AND: candidates, OR: [{ status: { in: unsent } }, ...withheld], NOT: triedPost }
        const ids = await findIds(db, chosen)
        if (yes || isNamed) {
          const due = await retryMails(db, ids, withheld.length > 0 ? [...unsent, 'Withheld'] : unsent)
          const next = key
            ? 'the running site sends them. Beyond their share of the mails of 24 hours acknowledgements wait, and a summary tells of the notices'
            : 'but RESEND_API_KEY is not set here: no mail is sent until the site runs with one'
          print(`${formatCount(due, 'mail is', 'mails are')} due now; ${next}.`)
        } else if (ids.length > 0) {
          const title = 'These mails would be due'
          const advice =
            'Nothing was changed. Repeat the command with --yes, or with the numbers or references of some.'
          await printSection(terminal, db, { where: chosen, title, advice })
        } else print('No mail would be due.')
        const left = (await db.mail.count({ where: candidates })) - ids.length
        if (left > 0)
          print(
            `Left out: ${formatCount(left, 'mail', 'mails')}, sent or withheld before, Unknown, or a post that is tried again by itself. --restored includes those that a restore withheld, --include-unknown the Unknown ones.`,
          )
      })
    })
}

function withholdCommand(add: AddCommand, { print, onDatabase }: Terminal) {
  add('withhold')
    .description('keep mails from being sent; the enquiries stay')
    .argument('<mails...>', 'that are not sent, or did not arrive: their numbers, or the references of their enquiries')
    .action(async (words: string[]) => {
      const find = readMailNames(words)
      await onDatabase(async (db) => {
        const ids = await find(db)
        const withheld = await withholdMails(db, ids)
        const left = ids.length - withheld
        print(`${formatCount(withheld, 'mail is', 'mails are')} withheld. A try that is under way may still send one.`)
        if (left > 0) print(`Not changed: ${formatCount(left, 'mail', 'mails')}, sent or withheld before.`)
      })
    })
}

/**
 * Makes mails due now that are still in one of the `expected` states, because the site sends meanwhile. Returns how many.
 *
 *  | state           | TriedAt                           | Key, Tag                                     | LastError |
 *  | Pending         | stays: the 23 hours count from it | stay                                         | stays     |
 *  | Failed, Unknown | goes                              | new: Resend may send nothing under the old   | stays     |
 *  | Withheld        | goes                              | stay; of a mail that Resend has accepted new | goes      |
 *
 * A failed webhook post keeps its key. A post that was tried and is Pending stays as it is.
 */
function retryMails(db: Db, ids: bigint[], expected: MailStatus[]): Promise<number> {
  const needsNewKey = Prisma.sql`"Status" = 'Unknown' OR "ResendId" IS NOT NULL OR ("Status" = 'Failed' AND "Kind" <> 'Post')`
  const change = Prisma.sql`"ResendId" = NULL,
    "TriedAt" = CASE "Status" WHEN 'Pending' THEN "TriedAt" END,
    "LastError" = CASE "Status" WHEN 'Withheld' THEN NULL ELSE "LastError" END,
    "Tag" = CASE WHEN ${needsNewKey} THEN gen_random_uuid() ELSE "Tag" END,
    "Key" = CASE WHEN ${needsNewKey} THEN 'again/' || gen_random_uuid() ELSE "Key" END`
  const where = Prisma.sql`${isOneOf(ids)} AND mail."Status" = ANY(${expected}::text[]::"Quvera_MailStatus"[])
    AND NOT (mail."Kind" = 'Post' AND mail."Status" = 'Pending' AND mail."TriedAt" IS NOT NULL)`
  return transition(db, 'Pending', where, change, Prisma.sql`now()`)
}

function isOneOf(ids: bigint[]): Prisma.Sql {
  return Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[])`
}

function withholdMails(db: Db, ids: bigint[]): Promise<number> {
  const reason = Prisma.sql`CASE WHEN "TriedAt" IS NULL THEN ${WITHHELD_BY_STAFF}
    ELSE 'Withheld by staff; an earlier try may have sent it.' END`
  const change = Prisma.sql`"LastError" = ${reason}`
  return transition(db, 'Withheld', isOneOf(ids), change, Prisma.sql`NULL::timestamptz`)
}

const unsentMails = {
  OR: [{ status: { in: ['Pending', 'Failed', 'Unknown'] } }, withheldByRestore],
} satisfies MailFilter

/** Retried only if named: what staff withheld, notices left to a summary, and what was suspected spam and is now `not-spam`. */
const withheldUntilNamed = {
  status: 'Withheld',
  OR: [
    { lastError: WITHHELD_BY_STAFF },
    ...[NOT_ALONE, IN_SUMMARY, SPAM_REASONS.Acknowledgement, SPAM_REASONS.Post].map((reason) => ({
      lastError: { startsWith: reason },
      enquiry: { suspectedSpam: false },
    })),
  ],
} satisfies MailFilter

/** A try of such a post may be under way. A second one beside it could post twice: receivers need not look at the key. */
const triedPost = { kind: 'Post', status: 'Pending', triedAt: { not: null } } satisfies MailFilter

const NUMBER = /^\d{1,18}$/

/** Numbers of mails, or references of enquiries. The function that it returns finds the mails, or throws. */
function readMailNames(words: string[]): (db: Db) => Promise<bigint[]> {
  const names = joinPrefixes(words)
  const numbers = names.filter((name) => NUMBER.test(name)).map(BigInt)
  const references = readReferences(names.filter((name) => !NUMBER.test(name)))
  return async (db) => {
    const ofEnquiries = (await findByReference(db, references)).flatMap(({ mails }) => mails.map(({ id }) => id))
    const found = await findIds(db, { id: { in: numbers } })
    const missing = numbers.find((number) => !found.includes(number))
    if (missing !== undefined)
      throw new OperatorError(`There is no mail ${missing}. ${staffCommand('mails')} lists them.`)
    const ids = [...new Set([...ofEnquiries, ...numbers])]
    if (names.length > 0 && ids.length === 0) throw new OperatorError('This enquiry has no mails.')
    return ids
  }
}

async function printMails(terminal: Terminal, db: Db) {
  const { print } = terminal
  for (const reason of await readReasons(terminal, db)) print(`${reason}\n`)
  let listed = 0
  for (const section of mailSections) listed += await printSection(terminal, db, section)
  if (listed === 0) print('No mail waits.')
  const oldest = await readOldestNewEnquiry(db)
  if (oldest) {
    const waiting = formatCount(await db.enquiry.count({ where: { status: 'New' } }), 'enquiry is', 'enquiries are')
    print(
      `${waiting} still New, the oldest for ${formatAge(oldest.seconds)}: ${oldest.reference} (${staffCommand('list --new')})`,
    )
  }
}

/** Why mails wait, by the settings here and the mails of the last 24 hours. */
async function readReasons({ env: readEnv }: Terminal, db: Db): Promise<string[]> {
  const env = readEnv()
  const pending = await db.mail.groupBy({ by: ['kind'], where: { status: 'Pending' } })
  const waits = (kind: MailKind) => pending.some((row) => row.kind === kind)
  const reasons =
    waits('Post') && !env.NOTIFY_URL ? ['NOTIFY_URL is not set here: unless the site has one, posts wait.'] : []
  const forSummary = await db.mail.count({
    where: { ...waitsForSummary, status: 'Withheld', lastError: { startsWith: NOT_ALONE } },
  })
  if (forSummary > 0) reasons.push(`${formatCount(forSummary, 'notice waits', 'notices wait')} for the next summary.`)
  const mailsWaiting = mailKinds.filter(waits)
  if (mailsWaiting.length === 0) return reasons
  if (!env.RESEND_API_KEY) return [...reasons, 'RESEND_API_KEY is not set here: unless the site has one, mails wait.']
  const refused = await db.mail.findFirst({
    where: { status: 'Pending', kind: { in: mailKinds }, attempts: { gt: 0 }, lastError: { not: null } },
    orderBy: { id: 'asc' },
  })
  if (refused) reasons.push(`A try failed and will be repeated: ${redact(refused.lastError ?? '')}`)
  const budget = { mails: env.MAIL_DAILY_BUDGET, receivers: env.STAFF_EMAILS.length }
  const count = await readCount(db, budget)
  const share = `${count} of the ${budget.mails} mails of MAIL_DAILY_BUDGET are used in 24 hours`
  for (const kind of mailsWaiting) {
    if (kind === 'Confirmation' && !env.PUBLIC_URL)
      reasons.push('Confirmations wait: PUBLIC_URL is not set here, and their links begin with it.')
    else if (limitOf(kind, budget, count) === 0)
      reasons.push(kind === 'Notice' ? `Notices wait for a summary: ${share}.` : `${pluralOf(kind)} wait: ${share}.`)
  }
  return reasons
}

function pluralOf(kind: MailKind): string {
  return kind === 'Summary' ? 'Summaries' : `${kind}s`
}
