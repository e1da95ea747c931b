import { hash } from 'node:crypto'
import type { Db } from '../database/database.ts'
import { RequestError } from '../http/errors.ts'
import { listReferences, recordAccess } from '../operations/access-log.ts'
import { nameOf, type Session } from './sessions.ts'

/* The desk's lines in the access log. What is shown again and again has a line now and then. */

/** What stays the same is recorded again after this time: the page reads it anew whenever one comes back to it. */
const RECORDED_AGAIN_MS = 60 * 60_000
/** While somebody types, each letter is a search. */
const SEARCH_RECORDED_AGAIN_MS = 60_000
const REMEMBERED_MAX = 10_000

interface Shown {
  reference: string
}

export function createRecorder(db: Db) {
  const recorded = createMemory()
  const keysOf = (session: Session, rows: Shown[]) => rows.map(({ reference }) => `${session.hash} ${reference}`)
  const listOf = (keys: string[]) => hash('sha256', keys.join())

  /** @throws RequestError where the line cannot be written, as on a full disk: then nothing is shown or changed */
  async function record(to: Pick<Db, 'access'>, session: Omit<Session, 'hash'>, command: string, what: string) {
    await recordAccess(to, { who: nameOf(session), command, what }).catch((cause) => {
      const message = 'The access log cannot be written, so nothing is shown or changed.'
      throw new RequestError(503, message, { cause })
    })
  }

  async function recordShown(session: Session, command: string, rows: Shown[]) {
    await record(db, session, command, listReferences(rows))
    const keys = keysOf(session, rows)
    for (const key of [listOf(keys), ...keys]) recorded.add(key, RECORDED_AGAIN_MS)
  }

  return {
    record,
    /** A list as a whole. */
    async recordList(session: Session, rows: Shown[]) {
      if (!recorded.has(listOf(keysOf(session, rows)))) await recordShown(session, 'desk list', rows)
    },
    /** What no list has shown. */
    async recordPulse(session: Session, rows: Shown[]) {
      if (!keysOf(session, rows).every(recorded.has)) await recordShown(session, 'desk pulse', rows)
    },
    async recordSearch(session: Session, rows: Shown[]) {
      const key = `${session.hash} search`
      if (recorded.has(key)) return
      await record(db, session, 'desk search', listReferences(rows))
      recorded.add(key, SEARCH_RECORDED_AGAIN_MS)
    },
  }
}

/** What was recorded, and for how long it counts. Forgotten with the process. */
function createMemory() {
  const until = new Map<string, number>()
  let cleanedAt = 0
  return {
    has: (key: string) => performance.now() < (until.get(key) ?? 0),
    add(key: string, forMs: number) {
      const now = performance.now()
      if (until.size > REMEMBERED_MAX && now - cleanedAt > 60_000) {
        cleanedAt = now
        for (const [old, end] of until) if (end <= now) until.delete(old)
      }
      until.set(key, now + forMs)
    },
  }
}
