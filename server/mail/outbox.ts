import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../database/database.ts'
import type { Enquiry } from '../enquiries/enquiry.ts'
import type { Mailer, MailKind, Outcome } from './mailer.ts'
import { createPace } from './pace.ts'

export interface Outbox {
  /** Orders were stored: looks for due mails now instead of at the next poll. */
  wake(): void
  /** Ends once the mails under way have an outcome, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

export interface OutboxOptions {
  leaseSeconds: number
  retrySeconds: number
  log: { warn(details: object, message: string): void; error(details: object, message: string): void }
}

interface Claimed extends Enquiry {
  mailId: bigint
  kind: MailKind
  attempts: number
  /** When the first try began whose outcome is not known, this one not counted. */
  ambiguousAt: Date | null
  /** How many enquiries of the last 24 hours come before this one in the same limit. */
  rank: number
}

const POLL_MS = 1000
const SEND_TIMEOUT_MS = 10_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const RETRY_MAX_SECONDS = 300
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000
const ACKNOWLEDGEMENTS_A_DAY = 3
const SPAM_NOTICES_A_DAY = 20

/**
 * Sends the mails that `Quvera_Mail` says we owe, from any number of processes. A mail is claimed by moving its next
 * attempt forward before it is sent: no transaction stays open meanwhile, and when this process dies another one
 * takes the mail over after the lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, options: OutboxOptions): Outbox {
  const pace = createPace()
  const underWay = new Set<Promise<void>>()
  const abort = new AbortController()
  let stopped = false
  let looking = false
  let lookAgain = false
  let timer: NodeJS.Timeout | undefined

  function wake() {
    lookAgain = true
    if (looking || stopped) return
    looking = true
    lookAgain = false
    clearTimeout(timer)
    look()
      .catch((error) => {
        options.log.error({ err: error }, 'mails cannot be read from the database')
        return POLL_MS
      })
      .then((pauseMs) => {
        looking = false
        if (stopped) return
        if (lookAgain && pauseMs === 0) wake()
        else timer = setTimeout(wake, Math.min(pauseMs || POLL_MS, POLL_MS))
      })
  }

  /** Starts the mails that are due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(): Promise<number> {
    for (const kind of ['Staff', 'Acknowledgement'] as const) {
      const { mails, pauseMs } = pace.room(underWay.size)
      if (mails === 0) return pauseMs
      for (const mail of await claim(db, kind, mails, options.leaseSeconds)) {
        pace.started()
        const sending = deliver(mail)
          .catch((error) =>
            options.log.error({ err: error, mail: mail.mailId }, 'the outcome of a mail was not recorded'),
          )
          .finally(() => {
            underWay.delete(sending)
            wake()
          })
        underWay.add(sending)
      }
    }
    return 0
  }

  async function deliver(mail: Claimed) {
    const withheld = withholdReason(mail)
    if (withheld) return record(db, mail, { status: 'Withheld', lastError: withheld })
    if (mail.ambiguousAt && Date.now() - mail.ambiguousAt.getTime() > KEY_LIFETIME_MS) {
      return record(db, mail, {
        status: 'Unknown',
        lastError: 'An earlier try may have sent this mail; too long ago to try again without a second copy.',
      })
    }
    const timeout = Math.min(SEND_TIMEOUT_MS, options.leaseSeconds * 500)
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(timeout)])
    const outcome = await mailer.send(mail.kind, mail, signal)
    pace.learn(outcome)
    if (outcome.is === 'sent') {
      return record(db, mail, { status: 'Sent', resendId: outcome.resendId, sentAt: new Date(), lastError: null })
    }
    const about = { mail: mail.mailId, kind: mail.kind, attempt: mail.attempts, outcome: outcome.is }
    options.log.warn({ ...about, reason: outcome.error.split(':')[0] }, 'a mail was not sent')
    if (outcome.is === 'refused') return record(db, mail, { status: 'Failed', lastError: outcome.error })
    const waitMs = retryAfterMs(outcome, mail.attempts, options.retrySeconds)
    if (outcome.is !== 'ambiguous') pace.pause(waitMs)
    await record(db, mail, {
      nextAttemptAt: new Date(Date.now() + waitMs),
      lastError: outcome.error,
      ...(outcome.is !== 'ambiguous' && { ambiguousAt: mail.ambiguousAt }),
    })
  }

  wake()
  return {
    wake() {
      pace.giveWay()
      wake()
    },
    async stop(graceMs) {
      stopped = true
      clearTimeout(timer)
      await Promise.race([Promise.allSettled(underWay), sleep(graceMs, undefined, { ref: false })])
      abort.abort()
      await Promise.allSettled(underWay)
    },
  }
}

/** Takes up to `limit` due mails for `leaseSeconds`, by the database's clock. Every try counts as ambiguous until it is known not to be. */
function claim(db: Db, kind: MailKind, limit: number, leaseSeconds: number) {
  return db.$queryRaw<Claimed[]>`
    WITH claimed AS (
      UPDATE "Quvera_Mail" mail
      SET "Attempts" = mail."Attempts" + 1,
        "NextAttemptAt" = now() + make_interval(secs => ${leaseSeconds}),
        "AmbiguousAt" = coalesce(mail."AmbiguousAt", now())
      FROM (
        SELECT "Id", "AmbiguousAt" FROM "Quvera_Mail"
        WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND "NextAttemptAt" <= now()
        ORDER BY "NextAttemptAt" LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ) due
      WHERE mail."Id" = due."Id"
      RETURNING mail."Id", mail."EnquiryId", mail."Kind", mail."Attempts", due."AmbiguousAt"
    )
    SELECT claimed."Id" AS "mailId", claimed."Kind"::text AS "kind", claimed."Attempts" AS "attempts",
      claimed."AmbiguousAt" AS "ambiguousAt", form."Id" AS "id", form."Reference" AS "reference",
      form."ReceivedAt" AS "receivedAt", form."Name" AS "name", form."Email" AS "email", form."Mobile" AS "mobile",
      form."Quantity" AS "quantity", form."RetailerSelfUse"::text AS "retailerSelfUse",
      form."Products"::text AS "products", form."SuspectedSpam" AS "suspectedSpam",
      CASE
        WHEN claimed."Kind" = 'Acknowledgement' THEN (
          SELECT count(*)::int FROM (
            SELECT FROM "Quvera_Form" earlier
            WHERE lower(earlier."Email") = lower(form."Email")
              AND earlier."ReceivedAt" BETWEEN form."ReceivedAt" - interval '24 hours' AND form."ReceivedAt"
              AND (earlier."ReceivedAt", earlier."Id") < (form."ReceivedAt", form."Id")
            LIMIT ${ACKNOWLEDGEMENTS_A_DAY}
          ) same_address
        )
        WHEN form."SuspectedSpam" THEN (
          SELECT count(*)::int FROM (
            SELECT FROM "Quvera_Form" earlier
            WHERE earlier."SuspectedSpam"
              AND (CASE WHEN earlier."SuspectedSpam" THEN earlier."ReceivedAt" END)
                BETWEEN form."ReceivedAt" - interval '24 hours' AND form."ReceivedAt"
              AND (earlier."ReceivedAt", earlier."Id") < (form."ReceivedAt", form."Id")
            LIMIT ${SPAM_NOTICES_A_DAY}
          ) spam
        )
        ELSE 0
      END AS "rank"
    FROM claimed JOIN "Quvera_Form" form ON form."Id" = claimed."EnquiryId"`
}

/** Guards against the misuse of our mails: nobody can flood an address, or our staff, through the form. */
function withholdReason(mail: Claimed): string | undefined {
  if (mail.kind === 'Acknowledgement') {
    return mail.rank >= ACKNOWLEDGEMENTS_A_DAY
      ? `Not sent: this address has had ${ACKNOWLEDGEMENTS_A_DAY} acknowledgements within 24 hours.`
      : undefined
  }
  return mail.suspectedSpam && mail.rank >= SPAM_NOTICES_A_DAY
    ? `Not sent: ${SPAM_NOTICES_A_DAY} notices of suspected spam have gone out within 24 hours.`
    : undefined
}

type Change = Parameters<Db['mail']['updateMany']>[0]['data']

/** Writes down an outcome, unless another worker has taken the mail over meanwhile: then its try counts. */
async function record(db: Db, mail: Claimed, data: Change) {
  await db.mail.updateMany({ where: { id: mail.mailId, attempts: mail.attempts, status: 'Pending' }, data })
}

function retryAfterMs(outcome: Outcome, attempts: number, retrySeconds: number): number {
  const backOff = Math.min(retrySeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS) * 1000
  switch (outcome.is) {
    case 'throttled':
      return outcome.retryAfterMs ?? retrySeconds * 1000
    case 'misconfigured':
      return Math.min(retrySeconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000
    case 'overQuota':
      return QUOTA_PAUSE_MS
    default:
      return backOff * (0.75 + Math.random() / 2)
  }
}
