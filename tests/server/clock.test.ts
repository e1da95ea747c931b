import { expect, it } from 'vitest'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeReceiver } from '../support/fake-receiver.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp } from '../support/test-app.ts'

/** What a clock that was two days ahead, and was put right, has left behind. */
async function aSiteFromTheFuture() {
  const app = await startTestApp({ mails: false })
  atEnd(app.close)
  const [waiting, tried, told] = await Promise.all([
    storeEnquiry(app.db, { receivedAt: hoursAgo(-48) }, { Notice: 'Pending', Acknowledgement: 'Pending' }),
    storeEnquiry(app.db, { receivedAt: hoursAgo(-48) }, { Notice: 'Pending' }),
    storeEnquiry(app.db, { receivedAt: hoursAgo(-48) }, { Notice: 'Sent', Acknowledgement: 'Sent' }),
  ])
  const of = (reference: string) => ({ enquiry: { reference } })
  await app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: hoursAgo(-48), attempts: 0 } })
  await app.db.mail.updateMany({
    where: { ...of(tried), kind: 'Notice' },
    data: { triedAt: hoursAgo(-48), attempts: 1 },
  })
  await app.db.mail.updateMany({ where: of(told), data: { triedAt: hoursAgo(-48) } })
  return { app, waiting, tried, told, of }
}

it('after a clock was two days ahead mails are sent, except those that may have been sent already', async () => {
  const { app, waiting, tried, told, of } = await aSiteFromTheFuture()
  const outbox = app.startOutbox()
  atEnd(() => outbox.stop(0))
  const states = (reference: string) =>
    app.db.mail.findMany({ where: of(reference), orderBy: { id: 'asc' }, select: { status: true } })
  await eventually(async () => expect((await states(tried))[0]).toEqual({ status: 'Unknown' }))
  await eventually(async () => expect((await states(waiting))[0]).toEqual({ status: 'Sent' }))
  const sent = await app.db.mail.findMany({ where: of(told) })
  for (const { triedAt } of sent) expect(Number(triedAt)).toBeLessThanOrEqual(Date.now() + 1000)
})

it('after a clock was two days ahead posts to NOTIFY_URL are sent too, also those that were tried', async () => {
  const { app, waiting, tried } = await aSiteFromTheFuture()
  const receiver = await startFakeReceiver()
  atEnd(receiver.close)
  for (const reference of [waiting, tried]) {
    const { id } = await app.db.enquiry.findUniqueOrThrow({ where: { reference } })
    const triedAt = reference === tried ? hoursAgo(-48) : null
    await app.db.mail.create({ data: { enquiryId: id, kind: 'Post', dueAt: hoursAgo(-48), triedAt } })
  }
  const outbox = app.startOutbox({ NOTIFY_URL: receiver.url })
  atEnd(() => outbox.stop(0))
  const states = () => app.db.mail.findMany({ where: { kind: 'Post' }, select: { status: true } })
  await eventually(async () => expect(await states()).toEqual([{ status: 'Sent' }, { status: 'Sent' }]))
})

it('no age is shown as negative', async () => {
  const { app, waiting } = await aSiteFromTheFuture()
  for (const command of [['show', waiting], ['mails'], ['digest']]) {
    const { code, stdout } = await staff(command, app.env)
    expect({ code, stdout }, command[0]).toEqual({
      code: 0,
      stdout: expect.not.stringMatching(/-[\d,]+ (second|minute|hour|day)/),
    })
  }
  expect((await staff(['show', waiting], app.env)).stdout).toContain(`${formatIndianTime(hoursAgo(-48)).slice(0, 11)}`)
})
