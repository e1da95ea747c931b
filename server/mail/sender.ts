import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { isDatabaseAway } from '../database/errors.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { backOffMs, type ClaimedMail, recordAnswer } from './queue.ts'
import type { Answer } from './states.ts'

/** Where mails go, and which of them: Resend (resend-channel.ts) or NOTIFY_URL (post-channel.ts). */
export interface Channel {
  /** Only the process that holds this lease sends. */
  lease: string
  /** Runs about once a second; if it fails, nothing is sent. `isUpkeep`: true once a minute. */
  prepare(isUpkeep: boolean): Promise<void>
  /** Claims the most urgent mail; with `isProbing` an untried one only if no mail was tried. */
  claim(isProbing: boolean): Promise<ClaimedMail | undefined>
  /** Between the beginnings of two requests. */
  intervalMs(): number
  /** One try, which ends with the signal. Does not throw for what the other side does. */
  attempt(mail: ClaimedMail, signal: AbortSignal): Promise<Answer>
  /** The base of the back-off. */
  retrySeconds: number
  /** The longest back-off; five minutes unless given. */
  retryMaxSeconds?: number
  /** Of an answer that counts. */
  logAnswer(mail: ClaimedMail, answer: Answer): void
}

export interface SenderOptions {
  log: Pick<Logger, 'error' | 'warn' | 'debug'>
  /** How long a claim lasts: MAIL_LEASE_SECONDS. */
  claimSeconds: number
  pollMs?: number | undefined
  /** Runs at each poll that the database does not answer. */
  onDatabaseAway?(): void
}

const POLL_MS = 1000
const UPKEEP_MS = 60_000
const TRY_MAX_MS = 10_000
/** Longer than a try, so that no other process sends beside it. If its process dies, another one takes over when it ends. */
const TURN_SECONDS = 15
/** A request that begins late by so much is made up for by the next one. */
const LATE_MS = 50
/** Unclear answers about so many enquiries, subscribers or summaries in a row are an outage, and not the fault of what one visitor typed. */
const OUTAGE_SUBJECTS = 3
/** In an outage each so many-th try is of an untried mail: the three may be at fault after all. */
const UNTRIED_EVERY = 12

/** Sends one mail after the other until stopped. */
export function startSender(
  db: Db,
  channel: Channel,
  { log, claimSeconds, pollMs = POLL_MS, onDatabaseAway }: SenderOptions,
) {
  const holder = randomUUID()
  const graceIsOver = new AbortController()
  /** Since the last clear answer: what the unclear ones were about, and how many there were. */
  const unclear = { subjects: new Set<unknown>(), answers: 0 }
  const takeTurn = () => takeLease(db, channel.lease, holder, TURN_SECONDS)
  let isStopping = false
  let woken = new AbortController()
  let isReady = false
  let isFailing = false
  // Times by performance.now().
  let nextPollAt = 0
  let nextUpkeepAt = 0
  let nextRequestAt = 0

  async function run() {
    while (!isStopping) {
      woken = new AbortController() // made before the step, so that `wake` during the step ends the rest after it
      if (await step().catch(handleFailure)) continue
      await rest(nextPollAt)
    }
  }

  /** Polls if it is time, then sends the next mail. @returns whether to look again at once, and not at the next poll or `wake` */
  async function step(): Promise<boolean> {
    if (performance.now() >= nextPollAt) {
      nextPollAt = performance.now() + pollMs
      isReady = await prepare()
    }
    if (!isReady) return false
    if (nextRequestAt > performance.now()) {
      await rest(Math.min(nextRequestAt, nextPollAt))
      return true
    }
    const isProbing = isOutage() && unclear.answers % UNTRIED_EVERY !== 0
    const mail = await channel.claim(isProbing)
    isFailing = false
    if (!mail) return false
    const beganAt = Math.max(nextRequestAt, performance.now() - LATE_MS)
    await send(mail)
    // The answer may have named the limit, so the interval is known only now; it counts from when the try began.
    nextRequestAt = Math.max(nextRequestAt, beganAt + channel.intervalMs())
    return true
  }

  /** @returns whether this process may send now */
  async function prepare(): Promise<boolean> {
    if (!(await takeTurn())) return false
    const isUpkeep = performance.now() >= nextUpkeepAt
    await channel.prepare(isUpkeep)
    if (isUpkeep) nextUpkeepAt = performance.now() + UPKEEP_MS
    return takeTurn() // again, because the preparation may have taken longer than the lease lasts
  }

  async function send(mail: ClaimedMail) {
    // A try ends before the claim does, or when the grace period of `stop` is over.
    const timeout = AbortSignal.timeout(Math.min(TRY_MAX_MS, claimSeconds * 500))
    const answer = await channel.attempt(mail, AbortSignal.any([timeout, graceIsOver.signal]))
    const backOff = backOffMs(mail.attempts, channel.retrySeconds, channel.retryMaxSeconds)
    if (answer.is === 'not taken') pause(answer.pauseMs)
    countUnclear(mail, answer)
    // A mail that was not taken also goes behind the others: we may have mistaken a refusal of this mail for one of all.
    const dueInMs = answer.is === 'not taken' ? Math.max(answer.pauseMs, backOff) : backOff
    if (await recordAnswer(db, mail, answer, dueInMs)) channel.logAnswer(mail, answer)
  }

  /** In an outage the pauses grow, and one mail that was tried is tried again: so the others stay untried. */
  function countUnclear(mail: ClaimedMail, answer: Answer) {
    if (answer.is === 'withheld' || answer.is === 'unknown') return // they say nothing about the other side
    if (answer.is !== 'unclear') {
      unclear.subjects.clear()
      unclear.answers = 0
      return
    }
    unclear.subjects.add(mail.enquiryId ?? mail.subscriberId ?? mail.text)
    unclear.answers++
    if (isOutage()) pause(backOffMs(unclear.answers - OUTAGE_SUBJECTS + 1, channel.retrySeconds))
  }

  function isOutage(): boolean {
    return unclear.subjects.size >= OUTAGE_SUBJECTS
  }

  function pause(ms: number) {
    nextRequestAt = Math.max(nextRequestAt, performance.now() + ms)
    log.debug({ lease: channel.lease, ms }, 'the sender pauses')
  }

  function handleFailure(err: unknown): boolean {
    if (isDatabaseAway(err)) onDatabaseAway?.()
    else if (!isFailing) {
      log.error({ err, lease: channel.lease }, 'the sender cannot work: nothing is sent')
      isFailing = true
    }
    isReady = false
    return false
  }

  /** Until `time`, or until `wake` or `stop`. */
  function rest(time: number) {
    const ms = Math.max(0, time - performance.now())
    return sleep(ms, undefined, { signal: woken.signal }).catch(() => undefined)
  }

  const running = run()
  return {
    /** Sends now instead of at the next poll. */
    wake: () => woken.abort(),
    /** Ends the try under way after `graceMs`, and waits until its answer is recorded. */
    async stop(graceMs: number) {
      isStopping = true
      woken.abort()
      await Promise.race([running, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await running
      await releaseLease(db, channel.lease, holder).catch(() => undefined) // it ends by itself
    },
  }
}
