import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { sqlState } from '../errors.ts'
import { type ClaimedMail, type Result, recordResult } from './queue.ts'

export interface Transport {
  /** Of all processes the one that has this lease sends. */
  lease: string
  /**
   * Called before mails are claimed. `again`: call it again at once; nothing is sent before it returns `ready`.
   * @param isUpkeep true once a minute
   */
  prepare(isUpkeep: boolean): Promise<'ready' | 'again'>
  /** How many tries may begin now; if none, how long to wait at least. */
  capacity(): { tries: number; pauseMs: number }
  claim(most: number): Promise<ClaimedMail[]>
  /** One try, which ends with the signal. */
  attempt(mail: ClaimedMail, signal: AbortSignal): Promise<Result>
  /** Called once the result is stored: logs it, or applies its delivery events. */
  afterRecorded(mail: ClaimedMail, result: Result): Promise<void>
}

type State =
  /** Another process sends, or the database does not answer. */
  | { is: 'waiting' }
  /** Looks for due mails, and none is under way. */
  | { is: 'idle' }
  | { is: 'sending' }
  /** Claims nothing, because a result asked for a pause. */
  | { is: 'paused'; until: number }
  | { is: 'stopping' }

interface SenderOptions {
  log: Pick<Logger, 'error' | 'debug'>
  leaseSeconds: number
  pollMs?: number | undefined
}

const POLL_MS = 1000
const UPKEEP_MS = 60_000
const SENDER_LEASE_SECONDS = 5
/** After a preparation of this length the lease is taken once more, because it may end soon. */
const LONG_PREPARATION_MS = 1000
const TRY_TIMEOUT_MS = 10_000

/** Sends what is due until stopped. If its process dies, another one takes over when the lease ends. */
export function startSender(db: Db, transport: Transport, { log, leaseSeconds, pollMs = POLL_MS }: SenderOptions) {
  const holder = randomUUID()
  const graceIsOver = new AbortController()
  const underWay = new Set<Promise<void>>()
  let state: State = { is: 'waiting' }
  let woken = new AbortController()
  let nextPollAt = 0
  let upkeepAt = 0
  let isReady = false
  let isFailing = false

  /** The only place that changes the state. Stopping is final; a pause lasts until its end, whatever happens meanwhile. */
  function enter(next: State) {
    const isPaused = state.is === 'paused' && state.until > performance.now()
    const endsPause =
      next.is === 'stopping' || (next.is === 'paused' && state.is === 'paused' && next.until > state.until)
    if (state.is === 'stopping' || (isPaused && !endsPause)) return
    if (state.is !== next.is)
      log.debug({ lease: transport.lease, from: state.is, to: next.is }, 'the sender has changed its state')
    state = next
  }

  async function run() {
    while (state.is !== 'stopping') {
      woken = new AbortController()
      const pauseMs = await step().catch(handleFailure)
      const waitMs = Math.min(pauseMs, nextPollAt - performance.now())
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: woken.signal }).catch(() => undefined)
    }
  }

  function handleFailure(err: unknown): number {
    const code = sqlState(err)
    // Orders log these failures themselves (availability.ts). Not 57014, a statement over its time limit: orders may work.
    const isAway = !code || /^(08|57P)/.test(code)
    if (!isFailing && !isAway) log.error({ err }, 'the sender cannot work: mails wait')
    isFailing = true
    isReady = false
    enter({ is: 'waiting' })
    return pollMs
  }

  /** Claims what is due, as far as there is capacity, and begins to send it. Returns for how long there is nothing to do. */
  async function step(): Promise<number> {
    const isPoll = performance.now() >= nextPollAt
    if (isPoll) {
      nextPollAt = performance.now() + pollMs
      isReady = await prepare()
    }
    if (!isReady) return pollMs
    enter({ is: underWay.size > 0 ? 'sending' : 'idle' })
    if (state.is === 'paused') return state.until - performance.now()
    const { tries, pauseMs } = transport.capacity()
    if (tries > 0) for (const mail of await transport.claim(tries)) start(mail)
    if (isPoll) isFailing = false
    return pauseMs || pollMs
  }

  /** Whether this process is the one that sends, and may do so now. */
  async function prepare(): Promise<boolean> {
    const takeIt = () => takeLease(db, transport.lease, holder, SENDER_LEASE_SECONDS)
    const startedAt = performance.now()
    let isMine = await takeIt()
    const isUpkeep = startedAt >= upkeepAt
    const prepared = isMine && (await transport.prepare(isUpkeep))
    if (isUpkeep && prepared === 'ready') upkeepAt = performance.now() + UPKEEP_MS
    if (isMine && performance.now() - startedAt > LONG_PREPARATION_MS) isMine = await takeIt()
    if (!isMine) enter({ is: 'waiting' })
    else if (prepared === 'again') nextPollAt = 0
    return isMine && prepared === 'ready'
  }

  function start(mail: ClaimedMail) {
    enter({ is: 'sending' })
    const sending = sendOnce(mail)
      .catch((err) => log.error({ err, mail: mail.id }, 'a mail was not sent, or its result not recorded'))
      .finally(() => {
        underWay.delete(sending)
        woken.abort()
      })
    underWay.add(sending)
  }

  async function sendOnce(mail: ClaimedMail) {
    // A try ends before its claim does, and when `stop` waits no longer.
    const timeout = AbortSignal.timeout(Math.min(TRY_TIMEOUT_MS, leaseSeconds * 500))
    const result = await transport.attempt(mail, AbortSignal.any([graceIsOver.signal, timeout]))
    if (result.pauseMs) enter({ is: 'paused', until: performance.now() + result.pauseMs })
    await recordResult(db, mail, result)
    await transport.afterRecorded(mail, result)
  }

  const running = run()
  return {
    /** Looks for what is due now instead of at the next poll. Never throws. */
    wake: () => woken.abort(),
    /** Ends once what is under way has a result, or `graceMs` have passed. */
    async stop(graceMs: number) {
      enter({ is: 'stopping' })
      woken.abort()
      const ended = running.then(() => Promise.allSettled(underWay))
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await ended
      await releaseLease(db, transport.lease, holder).catch(() => undefined) // it ends by itself
    },
  }
}
