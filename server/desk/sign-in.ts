import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DESK_PATH } from '../../shared/desk.ts'
import { asciiEmail } from '../../shared/typed-text.ts'
import { type Db, TRANSACTION } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'
import { createTurns } from '../http/turns.ts'
import { hasBudget, readCount, STRANGERS_A_DAY } from '../mail/kinds.ts'
import { transition } from '../mail/queue.ts'
import { createMailer, type Message } from '../mail/resend.ts'
import type { Answer } from '../mail/states.ts'
import { createSignInMail } from '../mail/templates.ts'
import { staffCommand } from '../staff-command.ts'
import { ENTER_PATH } from './pages.ts'
import {
  browserOf,
  createLink,
  deleteLink,
  endOfOthers,
  findStaff,
  isSecret,
  readBrowsers,
  redirectUnusedLink,
} from './sessions.ts'

/** For a browser that has entered before: no stranger can use these up. */
const BROWSER_A_DAY = 10
/** One request after the other, under one key, so that none is sent twice. */
const TRIES = 4
const TRY_MAX_MS = 5000
/** Times the number of the try. */
const PAUSE_MS = 500
/** Requests of strangers that are worked on at once; further ones are dropped. */
const UNDER_WAY_MAX = 50
const START_RETRY_MS = 10_000

export type SignIn = ReturnType<typeof createSignIn>

/** Without an https PUBLIC_URL the desk is on this machine only. */
export function deskUrlOf({ PUBLIC_URL, PORT }: Env): string {
  return PUBLIC_URL && /^(?:https:|http:\/\/localhost\b)/.test(PUBLIC_URL) ? PUBLIC_URL : `http://localhost:${PORT}`
}

/** The address of a page whose button enters the desk. */
function signInLink(env: Env, token: string): string {
  return `${deskUrlOf(env)}${ENTER_PATH}?token=${token}`
}

/** For whoever has a terminal: nobody has checked that the address is theirs. */
export async function createTerminalLink(db: Db, env: Env, email: string): Promise<string> {
  return signInLink(env, await createLink(db, { email, leadsTo: DESK_PATH, byTerminal: true }))
}

/** Who asks for a link. */
interface Asking {
  /** As it was typed or pasted: it may have invisible characters around it. */
  address: string
  leadsTo: string
  /** The secret of the browser's cookie; '' if there is none. */
  browser: string
}

/**
 * Mails links. They do not wait in the queue, but each has a row of Quvera_Mail, without the token: so the budget counts it.
 */
export function createSignIn(db: Db, env: Env, log: Pick<Logger, 'warn' | 'error'>) {
  const mailer = env.RESEND_API_KEY ? createMailer(env) : undefined
  const underWay = new Set<Promise<void>>()
  const inTurn = createTurns()
  const closing = new AbortController()
  /** Those that have entered, as they were when somebody last asked: before an answer the database is not asked. */
  let browsers = new Set<string>()
  /** Those that have entered while the others are read. */
  const entered = new Set<string>()
  let isLimitTold = false
  let isKeyMissed = false
  let isFailing = false

  /** One after the other: a read that began before somebody entered would else end after the one that knows it. */
  async function readKnownBrowsers() {
    await inTurn('browsers', async () => {
      entered.clear()
      const read = await readBrowsers(db)
      browsers = new Set([...read, ...entered])
    })
  }

  /** Also where the database is away when the site starts. */
  async function start() {
    while (!closing.signal.aborted) {
      try {
        await endOfOthers(db, env.STAFF_EMAILS)
        return await readKnownBrowsers()
      } catch {
        await sleep(START_RETRY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      }
    }
  }

  /** @returns undefined if no mail may be sent now */
  async function reserve(email: string, leadsTo: string, browser: string | undefined) {
    if (await redirectUnusedLink(db, email, leadsTo)) return undefined // a flood of requests costs one statement each
    return db.$transaction(async (transaction) => {
      // One after the other, whichever process serves the request: otherwise two requests would find no link.
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('Quvera_Session'))`
      if (await redirectUnusedLink(transaction, email, leadsTo)) return undefined
      if (!(await mayMail(transaction, browser))) return undefined
      const token = await createLink(transaction, { email, leadsTo })
      // Unknown until the answer is known: the queue does not take it, and the budget counts it.
      const [mail] = await transaction.$queryRaw<{ id: bigint; tag: string }[]>`
        INSERT INTO "Quvera_Mail" ("Kind", "To", "Mailbox", "Status", "DueAt", "FirstTriedAt", "Attempts")
        VALUES ('SignIn', ${email}, ${browser ?? null}, 'Unknown', NULL, now(), 1) RETURNING "Id" AS "id", "Tag"::text AS "tag"`
      return mail && { ...mail, token }
    }, TRANSACTION)
  }

  /** @param browser its hash, if it has entered before as this person */
  async function mayMail(transaction: Pick<Db, '$queryRaw'>, browser: string | undefined): Promise<boolean> {
    const [{ count }] = await transaction.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int AS "count" FROM "Quvera_Mail"
      WHERE "Kind" = 'SignIn' AND "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now() + interval '1 minute'
        AND "Mailbox" IS NOT DISTINCT FROM ${browser ?? null}::text`
    // A known browser has no budget, which strangers can use up.
    const isAllowed = browser
      ? count < BROWSER_A_DAY
      : count < STRANGERS_A_DAY && hasBudget('SignIn', env.MAIL_DAILY_BUDGET, await readCount(transaction))
    if (!isAllowed && !isLimitTold)
      log.warn(
        `No more links to the desk are mailed today: ${STRANGERS_A_DAY} for strangers or ${BROWSER_A_DAY} for one browser in 24 hours, or MAIL_DAILY_BUDGET, are used up`,
      )
    isLimitTold = !isAllowed
    return isAllowed
  }

  /** Tries again, under the same key, while it is not clear whether Resend has the mail, or its limit of a second is used up. */
  async function send(to: ReturnType<typeof createMailer>, message: Message): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await to.send(message, AbortSignal.any([closing.signal, AbortSignal.timeout(TRY_MAX_MS)]))
      // A limit of a second: the queue uses it too.
      const isLimited = answer.is === 'not taken' && answer.pauseMs <= TRY_MAX_MS
      if ((answer.is !== 'unclear' && !isLimited) || tries === TRIES || closing.signal.aborted) return answer
      await sleep(isLimited ? answer.pauseMs : tries * PAUSE_MS, undefined, { signal: closing.signal }).catch(
        () => undefined,
      )
    }
  }

  async function sendLink({ address, leadsTo, browser: secret }: Asking) {
    // Later than any answer that could follow on the same connection: how long those take would tell who is staff.
    await sleep(100 + Math.random() * 900, undefined, { signal: closing.signal }).catch(() => undefined)
    const email = findStaff(env.STAFF_EMAILS, asciiEmail(address))
    if (!email) return
    if (!mailer) {
      if (!isKeyMissed)
        log.warn(`RESEND_API_KEY is not set: no link to the desk is mailed. ${staffCommand('sign-in')} prints one`)
      isKeyMissed = true
      return
    }
    await readKnownBrowsers()
    const reserved = await reserve(email, leadsTo, knownBrowser(address, secret))
    if (!reserved) return
    const { id, tag, token } = reserved
    const answer = await send(mailer, { tag, to: email, ...createSignInMail(signInLink(env, token), tag) })
    const isThis = Prisma.sql`mail."Id" = ${id}`
    if (answer.is === 'taken') {
      const set = Prisma.sql`, "SentAt" = now(), "ResendId" = ${answer.resendId ?? null}`
      return void (await transition(db, 'Sent', isThis, { set }))
    }
    const error = 'error' in answer ? answer.error : ''
    log.warn(
      { mail: id, answer: answer.is, reason: error.split(':')[0] },
      'a link to the desk was not mailed, as far as is known',
    )
    if (answer.is !== 'refused' && answer.is !== 'not taken') return // it may arrive, and who asks again gets another
    // What Resend has not taken counts neither in the budget nor among the links of a day.
    const asIfNotTried = answer.is === 'not taken' ? Prisma.sql`, "FirstTriedAt" = NULL` : Prisma.empty
    await transition(db, 'Failed', isThis, { set: Prisma.sql`, "LastError" = ${error} ${asIfNotTried}` })
    await deleteLink(db, token) // so that the next request is served at once
  }

  /** Its hash, if it has entered before as this person. By what was last read of the database. */
  function knownBrowser(address: string, secret: string): string | undefined {
    const browser = isSecret(secret) ? browserOf(secret, asciiEmail(address)) : ''
    return browsers.has(browser) ? browser : undefined
  }

  return {
    /** The browsers are known, and the sessions of who has left are deleted. */
    started: start(),
    /** Sends a link if the address is one of staff. Returns at once, and never tells. */
    request(asking: Asking): void {
      if (underWay.size >= UNDER_WAY_MAX && !knownBrowser(asking.address, asking.browser)) return // a flood of strangers
      const sending = sendLink(asking)
        .then(() => {
          isFailing = false
        })
        .catch((err) => {
          if (!isFailing) log.error({ err }, 'a link to the desk could not be mailed')
          isFailing = true
        })
        .finally(() => underWay.delete(sending))
      underWay.add(sending)
    },
    /** Whether this browser has entered before as this person: then no limit that strangers can use up holds it up. */
    isKnown: ({ address, browser }: Pick<Asking, 'address' | 'browser'>) => Boolean(knownBrowser(address, browser)),
    /** A browser has entered: it is known from now on. */
    remember(secret: string, email: string): void {
      for (const known of [browsers, entered]) known.add(browserOf(secret, email))
    },
    /** Waits at most `graceMs` for the mails under way. */
    async close(graceMs: number): Promise<void> {
      const timer = setTimeout(() => closing.abort(), graceMs)
      await Promise.all(underWay)
      clearTimeout(timer)
    },
  }
}
