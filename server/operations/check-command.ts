// Commands about the site: what is configured, what waits, whether mails and webhook posts arrive, and its tables.

import { brand } from '../../shared/brand.ts'
import { formatAge } from '../../shared/count.ts'
import { emailSchema, exampleOrder } from '../../shared/order.ts'
import type { Enquiry } from '../database/enquiry.ts'
import { type Env, envSchema, readEnv } from '../env.ts'
import { isStandIn, warningsOf } from '../env-warnings.ts'
import { OperatorError } from '../errors.ts'
import { createPostBody, sendPost } from '../mail/post-channel.ts'
import { createMailer } from '../mail/resend.ts'
import { type AddCommand, type Terminal, UsageError } from '../terminal.ts'
import { readOldestNewEnquiry, readProblems } from './problems.ts'

const TIMEOUT_MS = 10_000
const NAME_WIDTH = 24

type Name = keyof typeof envSchema.shape

export function checkCommand(add: AddCommand, { env, print, onDatabase }: Terminal) {
  add('check')
    .description('show each setting as the site would have it, without secrets, and what waits')
    .option('--mail <address>', 'only send a test mail through Resend and show the answer')
    .option('--post', 'only post a made-up enquiry to NOTIFY_URL and show the answer')
    .action(async ({ mail, post }: { mail?: string; post?: boolean }) => {
      if (mail !== undefined) print(await sendTestMail(env, mail))
      if (post) print(await sendTestPost(env))
      if (mail !== undefined || post) return
      for (const line of settingLines(env())) print(line)
      await onDatabase(async (db) => {
        const problems = await readProblems(db, env(), { withAddresses: true })
        print(`\n${problems.join('\n') || 'No problem.'}`)
        const oldest = await readOldestNewEnquiry(db)
        if (oldest)
          print(`The oldest enquiry that is New has waited for ${formatAge(oldest.seconds)}: ${oldest.reference}`)
      })
    })
}

function settingLines(settings: Env): string[] {
  const defaults = readEnv({})
  const lines = (Object.keys(envSchema.shape) as Name[]).map((name) => {
    const note = String(settings[name]) === String(defaults[name]) ? '  default' : ''
    return `${name.padEnd(NAME_WIDTH)}  ${settingText(name, settings[name])}${note}`
  })
  const warnings = warningsOf(settings)
  if (isStandIn(brand.email) && !settings.RESEND_API_KEY)
    warnings.push(`visitors answer to ${brand.email}, which is a stand-in: see shared/brand.ts`)
  return [...lines, ...warnings.map((warning) => `\nWarning: ${warning}`)]
}

/** A URL may hold a password. The path of NOTIFY_URL is a secret. */
function settingText(name: Name, value: Env[Name]): string {
  if (value === undefined || String(value) === '') return '-'
  if (/_(KEY|SECRET)$/.test(name)) return 'set, hidden'
  if (name === 'NOTIFY_URL') return `${new URL(String(value)).origin}/…`
  const url = URL.parse(String(value))
  if (!url?.password && !url?.searchParams.has('password')) return String(value)
  if (url.password) url.password = 'hidden'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'hidden')
  return url.href
}

/** The site's role may not change tables: before a new version starts, their owner runs this. */
export function migrateCommand(add: AddCommand, { print, onDatabase }: Terminal) {
  add('migrate')
    .description('bring the tables up to date, as the server does when it starts')
    .action(async () => {
      const notes = await onDatabase(async (_, { notes }) => notes, { create: true, migrate: true })
      if (notes.length === 0) print('The tables are up to date.') // else withDatabase has printed the notes
    })
}

async function sendTestMail(env: Terminal['env'], to: string): Promise<string> {
  if (!emailSchema.safeParse(to).success) throw new UsageError(`"${to}" is not a mail address`)
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env()
  if (!apiKey) throw new OperatorError('RESEND_API_KEY is not set, so no mail can be sent.')
  const subject = `Test mail of the ${brand.name} website`
  const message = { tag: crypto.randomUUID(), to, subject, text: subject, html: subject }
  const answer = await createMailer(env()).send(message, AbortSignal.timeout(TIMEOUT_MS))
  const through = `from ${from} through ${baseUrl ?? 'Resend'}`
  if (answer.is !== 'taken')
    throw new OperatorError(`Not sent ${through}: ${'error' in answer ? answer.error : answer.is}`)
  return `Resend accepted the mail ${through}, with the id ${answer.resendId}. Now look into the mailbox of ${to}.`
}

async function sendTestPost(env: Terminal['env']): Promise<string> {
  const { NOTIFY_URL: url, NOTIFY_SECRET: secret, NOTIFY_FORMAT: format } = env()
  if (!url) throw new OperatorError('NOTIFY_URL is not set, so nothing can be posted.')
  const id = crypto.randomUUID()
  const reference = `${brand.referencePrefix}-TEST22`
  const stored = { id, reference, receivedAt: new Date(), status: 'New', suspectedSpam: false } as const
  const open = { closedAs: null, remindOn: null, eraseAt: null }
  const enquiry: Enquiry = {
    ...exampleOrder,
    quantity: String(exampleOrder.quantity),
    ...stored,
    ...open,
  }
  const body = createPostBody(format, enquiry, 'test')
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const { isAccepted, status, answer } = await sendPost({ url, secret }, `test/${id}`, body, timeout)
  const { origin } = new URL(url)
  if (!isAccepted) throw new OperatorError(`Not accepted by ${origin}: ${[status, answer].filter(Boolean).join(': ')}`)
  return `${origin} accepted the test enquiry ${reference} (${status}). Check that it arrived.`
}
