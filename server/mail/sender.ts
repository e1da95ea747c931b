import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { isDatabaseAway } from '../errors.ts'
import { type ClaimedMail, type Result, recordResult } from './queue.ts'
import type { Turns } from './turns.ts'

export interface Transport {
  /** Only the process that holds this lease sends. */
  lease: string
  /** Runs at each poll; if it fails, nothing is sent. `isUpkeep`: true once a minute. */
  prepare(isUpkeep: boolean): Promise<void>
  /** How many tries may be under way at a time. */
  parallel: number
  /** A try begins when its turn has come. */
  turns: Turns
  /** Claims the most urgent mails: `most`, or fewer. */
  claim(most: number): Promise<ClaimedMail[]>
  /** One try, which ends with the signal. */
  attempt(mail: ClaimedMail, signal: AbortSignal): Promise<Result>
  logResult(mail: ClaimedMail, result: Result): void
}

interface SenderOptions {
  log: Pick<Logger, 'error' | 'debug'>
  leaseSeconds: number
  pollMs?: number | undefined
  /** Runs at each poll that the database does not answer. */
  onDatabaseAway?(): void
}

const POLL_MS = 1000
const UPKEEP_MS = 60_000
const SENDER_LEASE_SECONDS = 5
const TRY_TIMEOUT_MS = 10_000
/** One claim takes as many mails as start within this time: a statement for each mail would take the processor from orders. */
const CLAIMED_MS = 100

/** Sends what is due until stopped. If its process dies, another one takes over when the lease ends. */
export function startSender(
  db: Db,
  transport: Transport,
  { log, leaseSeconds, pollMs = POLL_MS, onDatabaseAway }: SenderOptions,
) {
  const holder = randomUUID()
  const graceIsOver = new AbortController()
  const underWay = new Set<Promise<void>>()
  let isStopping = false
  let woken = new AbortController()
  let isReady = false
  let isFailing = false
  // Times by performance.now().
  let nextPollAt = 0
  let nextUpkeepAt = 0
  let pausedUntil = 0

  async function run() {
    while (!isStopping) {
      woken = new AbortController() // made before the step, so that `wake` during the step ends the sleep after it
      const stepWaitMs = await step().catch(handleFailure)
      const waitMs = Math.min(stepWaitMs, nextPollAt - performance.now())
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: woken.signal }).catch(() => undefined)
    }
  }

  /** Polls if it is time, and begins to send what is due, as far as there is capacity. Returns how long to wait. */
  async function step(): Promise<number> {
    if (performance.now() >= nextPollAt) {
      nextPollAt = performance.now() + pollMs
      isReady = await prepare()
    }
    if (!isReady) return pollMs
    const waitMs = Math.max(pausedUntil, transport.turns.nextAt()) - performance.now()
    if (waitMs > 0) return waitMs
    const startableNow = Math.ceil(CLAIMED_MS / transport.turns.intervalMs()) // Infinity for posts, which have no interval
    const most = Math.min(transport.parallel - underWay.size, startableNow)
    const mails = most > 0 ? await transport.claim(most) : []
    for (const mail of mails) await startInTurn(mail)
    isFailing = false
    return mails.length > 0 ? 0 : pollMs
  }

  /** @returns whether this process may send now */
  async function prepare(): Promise<boolean> {
    if (!(await takeSenderLease())) return false
    const isUpkeep = performance.now() >= nextUpkeepAt
    await transport.prepare(isUpkeep)
    if (isUpkeep) nextUpkeepAt = performance.now() + UPKEEP_MS
    return takeSenderLease() // again, because the preparation may have taken longer than the lease lasts
  }

  function takeSenderLease() {
    return takeLease(db, transport.lease, holder, SENDER_LEASE_SECONDS)
  }

  function handleFailure(err: unknown): number {
    if (isDatabaseAway(err)) onDatabaseAway?.()
    else if (!isFailing) {
      log.error({ err, lease: transport.lease }, 'the sender cannot work: nothing is sent')
      isFailing = true
    }
    isReady = false
    return pollMs
  }

  async function startInTurn(mail: ClaimedMail) {
    await transport.turns.take(graceIsOver.signal)
    const sending = sendOnce(mail)
      .catch((err) => log.error({ err, mail: mail.id }, 'a mail was not sent, or its result was not recorded'))
      .finally(() => {
        underWay.delete(sending)
        woken.abort()
      })
    underWay.add(sending)
  }

  async function sendOnce(mail: ClaimedMail) {
    // A try ends before the claim does, or when the grace period of `stop` is over.
    const timeout = AbortSignal.timeout(Math.min(TRY_TIMEOUT_MS, leaseSeconds * 500))
    const result = await transport.attempt(mail, AbortSignal.any([timeout, graceIsOver.signal]))
    if (result.pauseMs) {
      pausedUntil = Math.max(pausedUntil, performance.now() + result.pauseMs)
      log.debug({ lease: transport.lease, ms: result.pauseMs }, 'the sender pauses')
    }
    if (await recordResult(db, mail, result)) transport.logResult(mail, result)
  }

  const running = run()
  return {
    /** Claims now instead of at the next poll. */
    wake: () => woken.abort(),
    /** Waits for tries under way, at most `graceMs`. */
    async stop(graceMs: number) {
      isStopping = true
      woken.abort()
      const ended = running.then(() => Promise.allSettled(underWay))
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await ended
      await releaseLease(db, transport.lease, holder).catch(() => undefined) // it ends by itself
    },
  }
}
