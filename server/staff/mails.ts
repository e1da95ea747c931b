import { readNow } from '../database/clock.ts'
import type { Db } from '../database/database.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import { readOldestNew } from '../enquiries/enquiry.ts'
import { OperatorError, redact } from '../errors.ts'
import { formatAge, formatCount, staffCommand } from '../format.ts'
import { sharesOf } from '../mail/quota.ts'
import {
  kinds,
  type MailFilter,
  mailKinds,
  states,
  undeliveredAcknowledgements,
  undeliveredNotices,
  undeliveredSummaries,
} from '../mail/states.ts'
import { allowedNow, budgetOf, readBacklog, readUsage } from '../mail/usage.ts'
import { type Age, findByReference, joinReferences, readAge, readReferences, UsageError } from './input.ts'
import { retryMails, withheldByRestore, withholdMails, wouldBeDue } from './mail-actions.ts'
import { type AddCommand, printTable, type Terminal, timeCell } from './output.ts'

const LISTED_MAX = 200

export function mailsCommand(add: AddCommand, terminal: Terminal) {
  const mails = add('mails')
    .summary('show which mails wait or did not arrive, and why; send them again, or not at all')
    .usage('[--failed] | retry … | withhold …')
    .option('--failed', 'without those that are only Pending')
    .description(`Shows why mails wait, then the enquiries of which nobody has been told, the visitors to ring, the mails that are not
sent, and the oldest enquiry that is still New. The state of a mail:

${Object.entries(states)
  .map(([state, { means }]) => `  ${state.padEnd(12)}it ${means}`)
  .join('\n')}`)
    .argument('[word]') // an unknown subcommand
    .action(async (word: string | undefined, { failed = false }: { failed?: boolean }) => {
      if (word) throw new UsageError(`"${word}" is none of: retry, withhold`)
      await terminal.onDatabase((db) => printMails(terminal, db, failed))
    })
  const addToMails: AddCommand = (name) => mails.command(name)
  retryCommand(addToMails, terminal)
  withholdCommand(addToMails, terminal)
}

function retryCommand(add: AddCommand, terminal: Terminal) {
  const { env, print } = terminal
  add('retry')
    .summary('make mails due now')
    .argument('[mails...]', 'their numbers, or the references of their enquiries')
    .option('--yes', 'all that are Pending or Failed; without it and without names the command only lists them')
    .option('--include-unknown', 'also those that may have been sent already: the receiver may get a second copy')
    .option('--restored', 'also those that a restore withheld')
    .description(
      `The running site then sends them. An Unknown mail may have been sent: look into Resend's log first. With --restored, look whether they were sent after the backup. Mails that are Sent, Delivered, Bounced or Complained, and mails withheld for another reason, are never sent again.`,
    )
    .action(async (words: string[], options: { yes?: boolean; includeUnknown?: boolean; restored?: boolean }) => {
      const which = { includeUnknown: options.includeUnknown ?? false, includeRestored: options.restored ?? false }
      const find = readMailNames(words)
      const { RESEND_API_KEY: key } = env()
      await terminal.onDatabase(async (db) => {
        const ids = await find(db)
        if (!options.yes && !words[0]) {
          const all = {
            where: wouldBeDue(which),
            title: (n: number) => `Would make ${formatCount(n, 'mail', 'mails')} due.`,
            advice: 'Nothing was changed. Repeat the command with --yes, or with the numbers or references of some.',
          }
          if (await printSection(terminal, db, all)) return
        }
        const { due, left } = await retryMails(db, { ids, ...which })
        const next = key
          ? 'the running site sends them'
          : 'but RESEND_API_KEY is not set here: nothing is sent until the site runs with one'
        print(`${formatCount(due, 'mail is', 'mails are')} due now; ${next}.`)
        if (left > 0)
          print(
            `Not changed: ${formatCount(left, 'mail', 'mails')} that may have been sent already. Look into Resend's log first; then repeat the command with --include-unknown.`,
          )
        printLeft(print, ids.length - due - left)
      })
    })
}

function withholdCommand(add: AddCommand, { print, onDatabase }: Terminal) {
  add('withhold')
    .summary('keep mails from being sent')
    .argument('[mails...]', 'that are not sent, or did not arrive: their numbers, or the references of their enquiries')
    .option(
      '--older-than <age>',
      'all that are Pending and about enquiries older than so many days (7d) or months (2m)',
      readAge,
    )
    .description('The enquiries stay.')
    .action(async (words: string[], { olderThan }: { olderThan?: Age }) => {
      const find = readMailNames(words)
      if (words.length > 0 === (olderThan !== undefined)) throw new UsageError('Name the mails, or use --older-than 7d')
      await onDatabase(async (db) => {
        const ids = await find(db)
        const withheld = await withholdMails(db, olderThan ? { before: olderThan(await readNow(db)) } : { ids })
        print(`${formatCount(withheld, 'mail is', 'mails are')} withheld: not sent, unless a try is under way now.`)
        printLeft(print, olderThan ? 0 : ids.length - withheld)
      })
    })
}

function printLeft(print: Terminal['print'], number: number) {
  if (number > 0) print(`Not changed: ${formatCount(number, 'mail', 'mails')}, sent or withheld before.`)
}

const NUMBER = /^\d{1,18}$/

/** Reads numbers of mails and references of enquiries. The function that it returns finds the mails, or throws. */
function readMailNames(words: string[]): (db: Db) => Promise<bigint[]> {
  const names = joinReferences(words)
  const numbers = names.filter((name) => NUMBER.test(name)).map(BigInt)
  const references = readReferences(names.filter((name) => !NUMBER.test(name)))
  return async (db) => {
    const ofEnquiries = (await findByReference(db, references)).flatMap(({ mails }) => mails.map(({ id }) => id))
    const found = (await db.mail.findMany({ where: { id: { in: numbers } } })).map(({ id }) => id)
    const missing = numbers.find((number) => !found.includes(number))
    if (missing !== undefined)
      throw new OperatorError(`There is no mail ${missing}. ${staffCommand('mails')} lists them.`)
    const ids = [...new Set([...ofEnquiries, ...numbers])]
    if (names.length > 0 && ids.length === 0) throw new OperatorError('This enquiry has no mails.') // no ids mean all
    return ids
  }
}

function findMails(db: Db, where: MailFilter) {
  const include = { enquiry: { select: { reference: true, receivedAt: true, name: true, mobile: true } } }
  return db.mail.findMany({ where, include, orderBy: { id: 'asc' }, take: LISTED_MAX })
}

interface Section {
  where: MailFilter
  title(number: number): string
  advice: string
  /** Shows names and mobile numbers. */
  visitors?: true
}

const attention: Section[] = [
  {
    where: undeliveredNotices,
    title: (n) =>
      `ALARM: nobody has been told of ${formatCount(n, 'enquiry', 'enquiries')}. The notice did not arrive.`,
    advice: `Read each with: ${staffCommand('show REFERENCE')}. Answer the visitor, then: ${staffCommand('status REFERENCE Contacted')}.
Correct what keeps mails from STAFF_EMAILS; ${staffCommand('test-mail ADDRESS')} tries it. ${staffCommand('mails retry')} lists what was refused.
One that is Unknown may have arrived: look into Resend's log.`,
  },
  {
    where: undeliveredSummaries,
    title: (n) => `ALARM: ${formatCount(n, 'summary', 'summaries')} did not arrive, each of several enquiries.`,
    advice: `${staffCommand('list --new')} shows the enquiries. Then: ${staffCommand('mails withhold ID')}; or retry ID, if it was refused.`,
  },
  {
    where: undeliveredAcknowledgements,
    title: (n) => `The address is wrong, or takes no mail: ring ${formatCount(n, 'visitor', 'visitors')}.`,
    visitors: true,
    advice: `When you have: ${staffCommand('status REFERENCE Contacted')}`,
  },
  {
    where: { kind: 'Post', status: { in: ['Failed', 'Unknown'] } },
    title: (n) => `NOTIFY_URL was not told of ${formatCount(n, 'enquiry', 'enquiries')}, and is not tried again.`,
    advice: `${staffCommand('test-notify')} tries the address; ${staffCommand('mails retry ID')} sends it again, ${staffCommand('mails withhold ID')} gives it up.`,
  },
]

/** Why mails wait, then the sections, the most urgent first. */
async function printMails(terminal: Terminal, db: Db, onlyFailed: boolean) {
  const { print, env } = terminal
  const states: MailStatus[] = onlyFailed ? ['Failed', 'Unknown'] : ['Failed', 'Unknown', 'Pending']
  const sections: Section[] = [
    ...attention,
    {
      where: { status: { in: states }, kind: { in: mailKinds }, NOT: attention.map(({ where }) => where) },
      title: (n) =>
        `${formatCount(n, 'mail is', 'mails are')} not sent${onlyFailed ? ' and not tried again' : ''}, and in no list above.`,
      advice: `A Pending mail is sent by itself; the first lines say why it waits. For one that is Failed or Unknown,
${staffCommand('mails retry ID')} sends it again, and ${staffCommand('mails withhold ID')} takes it off this list.`,
    },
    {
      where: { kind: 'Post', status: { in: onlyFailed ? [] : ['Pending'] } },
      title: (n) => `NOTIFY_URL has not been told of ${formatCount(n, 'enquiry', 'enquiries')} yet.`,
      advice: env().NOTIFY_URL
        ? `Each is tried again by itself. ${staffCommand('test-notify')} tries the address.`
        : `NOTIFY_URL is not set here: unless the site has it, they wait. ${staffCommand('mails withhold ID')} gives one up.`,
    },
    {
      where: withheldByRestore,
      title: (n) => `${formatCount(n, 'mail was', 'mails were')} withheld by a restore: sent after the backup, or not.`,
      advice: `Look into Resend's log. ${staffCommand('mails retry --restored --yes')} sends them.`,
    },
  ]
  const { pending, failed, unknown, oldestPendingSeconds } = await readBacklog(db)
  if (pending > 0 && !onlyFailed) for (const reason of await readReasons(terminal, db)) print(`${reason}\n`)
  let isEmpty = true
  for (const section of sections) if (await printSection(terminal, db, section)) isEmpty = false
  if (isEmpty) print(onlyFailed ? 'No mail has failed.' : 'No mail waits.')
  if (pending + failed + unknown > 0) {
    const age = pending > 0 ? `, the oldest for ${formatAge(oldestPendingSeconds)}` : ''
    print(`In all: ${pending} pending${age}; ${failed} failed; ${unknown} unknown.`)
  }
  const oldest = await readOldestNew(db)
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
  if (!env.RESEND_API_KEY) return ['RESEND_API_KEY is not set here: unless the site has one, mails wait.']
  const waiting: MailFilter = { status: 'Pending', kind: { in: mailKinds } }
  const refused = await db.mail.findFirst({
    where: { ...waiting, attempts: { gt: 0 }, lastError: { not: null } },
    orderBy: { id: 'asc' },
  })
  const usage = await readUsage(db, budgetOf(env))
  const [allowed, shares] = [allowedNow(env, usage), sharesOf(budgetOf(env))]
  const reasons = refused ? [`A try failed, and is repeated: ${redact(refused.lastError ?? '')}`] : []
  if (usage.hasSuspected) reasons.push('Suspected spam waits for the next summary.')
  for (const { kind } of await db.mail.groupBy({ by: ['kind'], where: waiting })) {
    if (kind === 'Post' || allowed[kind] > 0) continue
    const isUnwelcome = (kind === 'Acknowledgement' || kind === 'Confirmation') && usage.isUnwelcome[kind]
    const reason = isUnwelcome
      ? '5 of the last 20 were turned away or marked as spam within a day'
      : kind === 'Confirmation' && !env.PUBLIC_URL
        ? 'PUBLIC_URL is not set here, and their links begin with it'
        : `${usage.used[kind]} of ${shares[kind]} were sent in 24 hours (MAIL_DAILY_BUDGET)`
    reasons.push(`${kind === 'Notice' ? 'Notices wait for a summary' : `${kind}s wait`}: ${reason}.`)
  }
  return reasons
}

/** Returns whether there was a mail to list. */
async function printSection(terminal: Terminal, db: Db, section: Section): Promise<boolean> {
  const { where, title, advice, visitors } = section
  const total = await db.mail.count({ where })
  if (total === 0) return false
  const rows = await findMails(db, where)
  if (visitors) await terminal.recordAccess(db, formatCount(rows.length, 'mail', 'mails'))
  terminal.print(title(total))
  const cells = rows.map(({ id, enquiry, kind, status, dueAt, lastError }) => ({
    Id: String(id),
    Reference: enquiry?.reference ?? '',
    ...(visitors && { Mobile: enquiry?.mobile ?? '', Name: enquiry?.name ?? '' }),
    Kind: kinds[kind].short,
    State: status,
    'Next try IST': status === 'Pending' && dueAt ? timeCell(dueAt) : '',
    'Received IST': enquiry ? timeCell(enquiry.receivedAt) : '',
    Reason: redact(lastError ?? ''), // Resend may quote the address
  }))
  printTable(terminal, cells)
  if (total > rows.length) terminal.print(`and ${total - rows.length} more`)
  terminal.print(`${advice}\n`)
  return true
}
