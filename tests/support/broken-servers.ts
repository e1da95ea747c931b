/**
 * Servers with one thing left out, each of which the fault suite must notice: by the test `noticedBy`, whose `figure` must
 * not be 0.
 */
export const variants = [
  {
    broken: 'answers before it saves',
    file: 'server/orders/orders.ts',
    from: 'const stored = await insertInBatch(row)',
    to: 'insertInBatch(row).catch(() => {}); const stored = new Set([row.Id])',
    noticedBy: 'three kills',
    figure: 'lost',
  },
  {
    broken: 'keeps the mails under way in memory only',
    file: 'server/mail/queue.ts',
    from: `"DueAt" = now() + make_interval(secs => \${claimSeconds}), "FirstTriedAt" = coalesce(mail."FirstTriedAt", now())`,
    to: `"DueAt" = NULL, "FirstTriedAt" = now(), "SentAt" = now(), "Status" = 'Sent'`,
    noticedBy: 'kills in the middle of sending',
    figure: 'mailsMissing',
  },
  {
    broken: 'sends without an idempotency key',
    file: 'server/mail/resend.ts',
    from: '{ idempotencyKey: tag, signal }',
    to: '{ signal }',
    noticedBy: 'kills in the middle of sending',
    figure: 'mailsDoubled',
  },
]
