import type { Db } from '../database/database.ts'
import { readOldestNew } from '../enquiries/enquiry.ts'
import { OperatorError, scrub } from '../errors.ts'
import { formatAge, formatCount } from '../format.ts'
import { allowedNow, budgetOf } from '../mail/mails.ts'
import { readBacklog, readUsage } from '../mail/queue.ts'
import { sharesOf } from '../mail/quota.ts'
import {
  heldBack,
  kinds,
  type MailFilter,
  mailKinds,
  states,
  undeliveredAcknowledgements,
  undeliveredSummaries,
  unsentStates,
  untoldNotices,
} from '../mail/states.ts'
import { findByReference, joinReferences, readAge, readReferences, UsageError } from './input.ts'
import { retryMails, withholdMails, wouldBeDue } from './mail-actions.ts'
import { type AddCommand, type Column, printTable, type Terminal, timeCell } from './output.ts'

const LIST_MAX = 200

export function mailsCommand(add: AddCommand, terminal: Terminal) {
  const mails = add('mails')
    .summary('tell which mails wait or did not arrive, and why; send them again, or not at all')
    .usage('[--failed] | retry … | withhold …')
    .option('--failed', 'without those that are only Pending')
    .description(`Tells first why mails wait, then of which enquiries nobody has been told, then which visitors have to be rung, then
which mails are not sent, and at the end the oldest enquiry that is still New. The state of a mail tells that it

${Object.entries(states)
  .map(([state, { means }]) => `  ${state.padEnd(12)}${means}`)
  .join('\n')}

A notice that is Withheld because a summary told it: show REFERENCE says which summary.`)
    .argument('[word]') // one that is none of its commands
    .action(async (word: string | undefined, { failed = false }: { failed?: boolean }) => {
      if (word) throw new UsageError(`"${word}" is none of: retry, withhold`)
      await terminal.onDatabase((db) => listMails(terminal, db, failed))
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
    .option('--restored', 'also those that a restored database holds back')
    .description(`The running site then sends them. An Unknown mail may have been sent already: the try had no clear answer, and Resend no
longer remembers it. Look into Resend's log first, and with --restored whether they were sent after the backup. Mails
that are Sent, Delivered, Bounced or Complained, and mails withheld for another reason, are never sent again.`)
    .action(async (words: string[], options: { yes?: boolean; includeUnknown?: boolean; restored?: boolean }) => {
      const which = { includeUnknown: options.includeUnknown ?? false, includeRestored: options.restored ?? false }
      const find = readMailNames(words)
      const { RESEND_API_KEY: key } = env()
      await terminal.onDatabase(async (db) => {
        const ids = await find(db)
        const all = {
          where: wouldBeDue(which),
          head: (n: number) => `Would make ${formatCount(n, 'mail', 'mails')} due.`,
          advice:
            'Nothing was changed. Repeat the command with --yes, or with the numbers or references of those you mean.',
        }
        if (!options.yes && !words[0] && (await printSection(terminal, db, all))) return
        const { due, left } = await retryMails(db, { ids, ...which })
        const fate = key
          ? 'the running site sends them'
          : 'but RESEND_API_KEY is not set here: nothing is sent until the site runs with one'
        print(`${formatCount(due, 'mail is', 'mails are')} due now; ${fate}.`)
        const unknown = formatCount(left, 'mail', 'mails')
        if (left > 0)
          print(`Left: ${unknown} that may have been sent already. See Resend's log, then --include-unknown.`)
        tellOthers(print, ids.length - due - left)
      })
    })
}

function withholdCommand(add: AddCommand, { print, onDatabase }: Terminal) {
  add('withhold')
    .summary('say that mails are not to be sent')
    .argument('[mails...]', 'that are not sent, or did not arrive: their numbers, or the references of their enquiries')
    .option(
      '--older-than <age>',
      'all that are Pending and about enquiries older than so many days (7d) or months (2m)',
      (age) => readAge(age),
    )
    .description('The enquiries stay.')
    .action(async (words: string[], { olderThan: before }: { olderThan?: Date }) => {
      const find = readMailNames(words)
      if (words.length > 0 === (before !== undefined)) throw new UsageError('Name the mails, or say --older-than 7d')
      await onDatabase(async (db) => {
        const ids = await find(db)
        const withheld = await withholdMails(db, before ? { before } : { ids })
        print(
          `${formatCount(withheld, 'mail is', 'mails are')} withheld: never sent, unless a try is under way just now.`,
        )
        tellOthers(print, before ? 0 : ids.length - withheld)
      })
    })
}

const NUMBER = /^\d{1,18}$/

/** The numbers of mails, and of all mails of enquiries. What is not there is refused before anything is changed. */
function readMailNames(words: string[]): (db: Db) => Promise<bigint[]> {
  const names = joinReferences(words)
  const numbers = names.filter((name) => NUMBER.test(name)).map(BigInt)
  const references = readReferences(names.filter((name) => !NUMBER.test(name)))
  return async (db) => {
    const named = (await findByReference(db, references)).flatMap(({ mails }) => mails.map((mail) => mail.id))
    const there = (await db.mail.findMany({ where: { id: { in: numbers } } })).map((mail) => mail.id)
    const missing = numbers.find((number) => !there.includes(number))
    if (missing !== undefined) throw new OperatorError(`There is no mail ${missing}. \`staff mails\` lists them.`)
    if (names[0] && !named[0] && !numbers[0]) throw new OperatorError('No mails belong to it.') // no names mean all
    return [...new Set([...named, ...numbers])]
  }
}

function tellOthers(print: Terminal['print'], number: number) {
  if (number > 0) print(`Left: ${formatCount(number, 'mail that is', 'mails that are')} sent or withheld.`)
}

function readMails(db: Db, where: MailFilter) {
  const include = { enquiry: { select: { reference: true, receivedAt: true, name: true, mobile: true } } }
  return db.mail.findMany({ where, include, orderBy: { id: 'asc' }, take: LIST_MAX })
}

type Row = Awaited<ReturnType<typeof readMails>>[number]

const columns: Column<Row>[] = [
  { title: 'Id', cell: ({ id }) => String(id) },
  { title: 'Reference', cell: ({ enquiry }) => enquiry?.reference ?? '' },
  { title: 'Received IST', cell: ({ enquiry }) => (enquiry ? timeCell(enquiry.receivedAt) : ''), spare: 1 },
  { title: 'Name', cell: ({ enquiry }) => enquiry?.name ?? '', min: 12, spare: 2 },
  { title: 'Mobile', cell: ({ enquiry }) => enquiry?.mobile ?? '' },
  { title: 'Kind', cell: ({ kind }) => kinds[kind].short },
  { title: 'State', cell: ({ status }) => status },
  { title: 'Attempts', cell: ({ attempts }) => String(attempts), spare: 4 },
  {
    title: 'Next try IST',
    cell: ({ status, dueAt }) => (status === 'Pending' && dueAt ? timeCell(dueAt) : ''),
    spare: 3,
  },
  /** Resend may quote the address. */
  { title: 'Reason', cell: ({ lastError }) => scrub(lastError ?? ''), min: 25 },
]

interface Section {
  where: MailFilter
  head(number: number): string
  advice: string
  /** Whether it names whom to ring. */
  visitors?: true
}

/** Why mails wait, then what wants somebody's attention, the worst first. */
async function listMails(terminal: Terminal, db: Db, onlyFailed: boolean) {
  const { print, env } = terminal
  const isNotSent: MailFilter = { status: { in: unsentStates.filter((state) => !onlyFailed || state !== 'Pending') } }
  const sections: Section[] = [
    {
      where: untoldNotices,
      head: (n) =>
        `ALARM: nobody has been told of ${formatCount(n, 'enquiry', 'enquiries')}. The notice did not arrive.`,
      advice: `Read each with: staff show REFERENCE. Answer the visitor, then:
staff status REFERENCE Contacted. Put right what keeps mails from STAFF_EMAILS;
staff test-mail ADDRESS tries it. staff mails retry: lists what was refused;
with --yes it goes out once more.`,
    },
    {
      where: undeliveredSummaries,
      head: (n) => `ALARM: ${formatCount(n, 'summary', 'summaries')} did not arrive, each of several enquiries.`,
      advice: 'staff list --new shows the enquiries. Then: staff mails withhold ID; or retry ID, if it was refused.',
    },
    {
      where: undeliveredAcknowledgements,
      head: (n) => `The address is wrong, or takes no mail: ring ${formatCount(n, 'visitor', 'visitors')}.`,
      visitors: true,
      advice: 'When you have: staff status REFERENCE Contacted',
    },
    {
      where: { kind: 'Post', status: { in: ['Failed', 'Unknown'] } },
      head: (n) => `NOTIFY_URL was not told of ${formatCount(n, 'enquiry', 'enquiries')}, and is not tried again.`,
      advice: 'staff test-notify tries the address; staff mails retry ID sends it once more, withhold ID never.',
    },
    {
      where: {
        ...isNotSent,
        kind: { in: mailKinds },
        NOT: [untoldNotices, undeliveredAcknowledgements, undeliveredSummaries],
      },
      head: (n) =>
        `${formatCount(n, 'mail is', 'mails are')} ${onlyFailed ? 'not sent and not tried again' : 'not sent'}.`,
      advice:
        'Pending goes out by itself, as the first lines allow. Anything else: staff mails retry, or nothing if somebody has dealt with it.',
    },
    ...(onlyFailed ? [] : [waitingPosts(env().NOTIFY_URL !== undefined)]),
    {
      where: heldBack,
      head: (n) =>
        `${formatCount(n, 'mail is', 'mails are')} held back since a restore: sent after the backup, or not yet.`,
      advice: "Look into Resend's log. staff mails retry --restored --yes sends them.",
    },
  ]
  const { pending, failed, unknown, oldestPendingSeconds } = await readBacklog(db)
  if (pending > 0 && !onlyFailed) for (const reason of await whyMailsWait(terminal, db)) print(`${reason}\n`)
  let isEmpty = true
  for (const section of sections) if (await printSection(terminal, db, section)) isEmpty = false
  if (isEmpty) print(onlyFailed ? 'No mail has failed.' : 'No mail waits.')
  if (pending + failed + unknown > 0) {
    const age = pending > 0 ? `, the oldest for ${formatAge(oldestPendingSeconds)}` : ''
    print(`Mails: ${pending} pending${age}; ${failed} failed; ${unknown} unknown.`)
  }
  const oldest = await readOldestNew(db)
  if (oldest) {
    const waiting = formatCount(await db.enquiry.count({ where: { status: 'New' } }), 'enquiry is', 'enquiries are')
    print(`${waiting} still New, the oldest for ${formatAge(oldest.seconds)}: ${oldest.reference} (staff list --new)`)
  }
}

function waitingPosts(isSet: boolean): Section {
  return {
    where: { kind: 'Post', status: 'Pending' },
    head: (n) => `NOTIFY_URL has not been told of ${formatCount(n, 'enquiry', 'enquiries')} yet.`,
    advice: isSet
      ? 'Each is tried again by itself. staff test-notify tries the address.'
      : 'NOTIFY_URL is not set here: unless the site has it, they wait. staff mails withhold ID: never.',
  }
}

/** As the settings here and the last 24 hours say. */
async function whyMailsWait({ env: readEnv }: Terminal, db: Db): Promise<string[]> {
  const env = readEnv()
  if (!env.RESEND_API_KEY) return ['RESEND_API_KEY is not set here: unless the site has one, mails wait.']
  const refused = await db.mail.findFirst({
    where: { status: 'Pending', attempts: { gt: 0 }, lastError: { not: null }, kind: { in: mailKinds } },
    orderBy: { id: 'asc' },
  })
  const usage = await readUsage(db, budgetOf(env))
  const { used, isHeld } = usage
  const [allowed, shares] = [allowedNow(env, usage), sharesOf(budgetOf(env))]
  const isUsedUp = (kind: keyof typeof used) => env.MAIL_DAILY_BUDGET > 0 && used[kind] >= shares[kind]
  const waiting = await db.mail.groupBy({ by: ['kind'], where: { status: 'Pending', kind: { in: mailKinds } } })
  const waits = (kind: keyof typeof used) => waiting.some((each) => each.kind === kind) && allowed[kind] === 0
  const unwelcome = '5 of the last 20 were turned away or marked as spam within a day'
  return [
    ...(refused ? [`A try failed, and is repeated: ${scrub(refused.lastError ?? '')}`] : []),
    ...(waits('Staff')
      ? [
          `${used.Staff} of ${shares.Staff} single notices of 24 hours are used (MAIL_DAILY_BUDGET): a summary tells the others.`,
        ]
      : []),
    ...(usage.hasSuspected ? ['Suspected spam waits for the next summary.'] : []),
    ...(['Acknowledgement', 'Confirmation'] as const).filter(waits).map((kind) => {
      const name = `${kind}s wait`
      if (isHeld[kind]) return `${name}: ${unwelcome}.`
      if (isUsedUp(kind)) return `${name}: ${used[kind]} of ${shares[kind]} of 24 hours are used (MAIL_DAILY_BUDGET).`
      return kind === 'Confirmation' && !env.PUBLIC_URL
        ? `${name}: PUBLIC_URL is not set here, and their links begin with it.`
        : `${name}: the mails of 24 hours are used (MAIL_DAILY_BUDGET).`
    }),
  ]
}

async function printSection(terminal: Terminal, db: Db, { where, head, advice, visitors }: Section): Promise<boolean> {
  const total = await db.mail.count({ where })
  if (total === 0) return false
  const rows = await readMails(db, where)
  if (visitors) await terminal.recordAccess(db, formatCount(rows.length, 'mail', 'mails'))
  terminal.print(head(total))
  const leftOut = visitors ? ['Kind'] : ['Name', 'Mobile'] // whom to ring leaves no room for what is the same of all
  const shown = columns.filter(({ title }) => !leftOut.includes(title))
  printTable(terminal, shown, rows)
  if (total > rows.length) terminal.print(`and ${formatCount(total - rows.length, 'more', 'more')}`)
  terminal.print(`${advice}\n`)
  return true
}
