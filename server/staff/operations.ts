// Commands about the site: its settings, its tables, the digest, and whether mails and webhook posts arrive.

import { brand } from '../../shared/brand.ts'
import { emailSchema, exampleOrder } from '../../shared/order.ts'
import { readNow } from '../database/database.ts'
import { type Env, envSchema, readEnv, warningsOf } from '../env.ts'
import { OperatorError } from '../errors.ts'
import { createMailer } from '../mail/resend.ts'
import { readSummary, writeSummary } from '../mail/summary.ts'
import { createPostBody, sendPost } from '../mail/webhook-posts.ts'
import { UsageError } from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

const TIMEOUT_MS = 10_000
const NAME_WIDTH = 24

type Name = keyof Env

export function configCommand(add: AddCommand, { env, print }: Terminal) {
  add('config')
    .description('show each setting as the site would have it; secrets are hidden')
    .action(() => {
      const [settings, defaults] = [env(), readEnv({})]
      for (const name of Object.keys(envSchema.shape) as Name[]) {
        const note = String(settings[name]) === String(defaults[name]) ? '  default' : ''
        print(`${name.padEnd(NAME_WIDTH)}  ${settingText(name, settings[name])}${note}`)
      }
      for (const warning of warningsOf(settings)) print(`\nWarning: ${warning}`)
    })
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
      if (notes.length === 0) print('The tables are up to date.')
    })
}

const NOTHING_TO_REPORT = 'Nothing to report: no enquiry has waited for a day, and no mail has failed.'

export function digestCommand(add: AddCommand, { env, print, onDatabase }: Terminal) {
  add('digest')
    .description('show what waits and what did not arrive, on one page')
    .option('--send', 'also mail it to STAFF_EMAILS, through the running site, if there is anything to say')
    .action(async ({ send }: { send?: boolean }) => {
      await onDatabase(async (db) => {
        const now = await readNow(db)
        const page = await readSummary(db, now, { backupDir: env().BACKUP_DIR })
        if (!page) return print(`${NOTHING_TO_REPORT}${send ? ' Nothing is sent.' : ''}`)
        print(page)
        if (!send) return
        await writeSummary(db, now)
        print(
          env().RESEND_API_KEY
            ? '\nQueued: the running site sends it to STAFF_EMAILS.'
            : '\nQueued, but RESEND_API_KEY is not set here: it waits until the site runs with one.',
        )
      })
    })
}

export function testMailCommand(add: AddCommand, { env, print }: Terminal) {
  add('test-mail')
    .description('send one mail through Resend and show the answer')
    .argument('<address>')
    .action(async (to: string) => {
      if (!emailSchema.safeParse(to).success) throw new UsageError(`"${to}" is not a mail address`)
      const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env()
      if (!apiKey) throw new OperatorError('RESEND_API_KEY is not set, so no mail can be sent.')
      const subject = `Test mail of the ${brand.name} website`
      const message = { idempotencyKey: `test/${crypto.randomUUID()}`, to: [to], subject, text: subject, html: subject }
      const outcome = await createMailer(env()).send(message, () => AbortSignal.timeout(TIMEOUT_MS))
      const through = `from ${from} through ${baseUrl ?? 'Resend'}`
      if (outcome.is !== 'sent') throw new OperatorError(`Not sent ${through}: ${outcome.error}`)
      print(`Resend accepted the mail ${through}, with the id ${outcome.resendId}. Now look into the mailbox of ${to}.`)
    })
}

export function testNotifyCommand(add: AddCommand, { env, print }: Terminal) {
  add('test-notify')
    .description('post a made-up enquiry to NOTIFY_URL and show the answer')
    .action(async () => {
      const { NOTIFY_URL: url, NOTIFY_SECRET: secret, NOTIFY_FORMAT: format } = env()
      if (!url) throw new OperatorError('NOTIFY_URL is not set, so nothing can be posted.')
      const id = crypto.randomUUID()
      const enquiry = {
        ...exampleOrder,
        quantity: String(exampleOrder.quantity),
        id,
        reference: `${brand.referencePrefix}-TEST22`,
        receivedAt: new Date(),
        suspectedSpam: false,
      }
      const body = createPostBody(format, enquiry, 'test')
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const { isAccepted, status, answer } = await sendPost({ url, secret }, `test/${id}`, body, timeout)
      const { origin } = new URL(url)
      if (!isAccepted)
        throw new OperatorError(`Not accepted by ${origin}: ${[status, answer].filter(Boolean).join(': ')}`)
      print(`${origin} accepted the test enquiry ${enquiry.reference} (${status}). Check that it arrived.`)
    })
}
