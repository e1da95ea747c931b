import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { logChanges, recordEvent } from './delivery.ts'
import type { Mailer } from './mailer.ts'
import type { Pace } from './pace.ts'

export interface DeliveryCheck {
  db: Db
  mailer: Mailer
  pace: Pace
  log: Pick<Logger, 'error' | 'warn' | 'info'>
}

const ARRIVES_WITHIN_MS = 5 * 60_000
const ASKED_FOR_MS = 2 * 86_400_000
const TIMEOUT_MS = 10_000

/**
 * Where Resend does not tell what became of mails, it is asked: once a mail, some minutes after the send.
 * @returns what asks for one mail that is due
 */
export function createDeliveryCheck({ db, mailer, pace, log }: DeliveryCheck): () => Promise<void> {
  let mayAsk = true

  async function ask(resendId: string) {
    pace.started()
    const { outcome, headers, isAnswer, restricted } = await mailer.lastEvent(resendId, AbortSignal.timeout(TIMEOUT_MS))
    pace.learn(headers, 0)
    if (restricted) {
      mayAsk = false
      log.warn('RESEND_API_KEY may only send: whether mails arrive is not known until RESEND_WEBHOOK_SECRET is set')
      return
    }
    if (!isAnswer) return // it is asked again
    await db.mail.updateMany({ where: { resendId }, data: { checkedAt: new Date() } })
    if (outcome) logChanges(log, await recordEvent(db, { id: `check/${resendId}`, resendId, type: `email.${outcome}` }))
  }

  return async () => {
    if (!mayAsk || pace.room(0).mails === 0) return
    const now = Date.now()
    const sentAt = { gt: new Date(now - ASKED_FOR_MS), lt: new Date(now - ARRIVES_WITHIN_MS) }
    const due = await db.mail.findFirst({
      where: { status: 'Sent', checkedAt: null, sentAt },
      orderBy: { sentAt: 'asc' },
    })
    if (due?.resendId) await ask(due.resendId)
  }
}
