interface Variant {
  broken: string
  file: string
  from: string
  to: string
  noticedBy: string
  figure: string
  isNone?: true
}

/**
 * Servers with one thing left out, each of which the fault suite must notice: by the test `noticedBy`, whose `figure` is then
 * above 0, or `isNone`.
 */
export const variants: Variant[] = [
  {
    broken: 'answers before it saves',
    file: 'server/orders/orders.ts',
    from: 'const secret = (await insertInBatch(row)).get(row.Id)',
    to: `insertInBatch(row).catch(() => {}); const secret = 'any'`,
    noticedBy: 'three kills',
    figure: 'lost',
  },
  {
    broken: 'keeps the mails under way in memory only',
    file: 'server/mail/queue.ts',
    from: `now() + make_interval(secs => \${claimSeconds})`,
    to: `now() + interval '10 hours'`,
    noticedBy: 'kills in the middle of sending',
    figure: 'callsRepeated', // the fake takes a call whose sender is killed: what counts is that it is tried again
    isNone: true,
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
