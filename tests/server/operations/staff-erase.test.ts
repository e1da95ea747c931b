// Staff can erase a person, single enquiries or old ones. Nothing is erased without --yes, and nothing else with it.
import { expect, it, vi } from 'vitest'
import { anOrder, call, postForm, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { aSite } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'

/** A site, and what `erase` prints there. */
async function anEraser() {
  const site = await aSite()
  const subscribe = (email: string) => call(site.url, 'subscription.subscribe', { email })
  return {
    ...site,
    subscribe,
    erase: async (...words: string[]) => (await staff(['erase', ...words], site.env)).stdout,
  }
}

it('a person is erased with --yes only, and nobody else', async () => {
  const { url, db, subscribe, erase } = await anEraser()
  const { reference } = await submit(url, anOrder())
  const { reference: other } = await submit(url, anOrder({ email: 'ashaXverma@shop.example' }))
  await subscribe('asha.verma@shop.example')
  const left = async () => (await db.enquiry.findMany({ orderBy: { id: 'asc' } })).map((row) => row.reference)
  const dry = await erase('--person', 'ASHA.VERMA@shop.example')
  expect(dry).toContain(`${reference}  `)
  expect(dry).toContain('Would erase 1 enquiry with 2 mails and 1 subscription. Nothing was changed.')
  expect([await left(), await db.mail.count(), await db.subscriber.count()]).toEqual([[reference, other], 5, 1])
  expect(await erase('--person', 'ASHA.VERMA@shop.example', '--yes')).toContain('Erased 1 enquiry with 2 mails')
  expect([await left(), await db.mail.count(), await db.subscriber.count()]).toEqual([[other], 2, 0])
  expect(await erase('--person', 'ASHA.VERMA@shop.example', '--yes')).toBe('Nothing stored matches.\n')
})

it('a person is found whose address has a domain in another script, as the person writes it', async () => {
  const { url, env, subscribe, erase } = await anEraser()
  await postForm(url, anOrder({ email: 'asha@उदाहरण.भारत' }))
  await subscribe('asha@xn--p1b6ci4b4b3a.xn--h2brj9c')
  const what = 'Would erase 1 enquiry with 2 mails and 1 subscription.'
  expect(await erase('--person', 'Asha@उदाहरण.भारत')).toContain(what)
  const removed = await staff(['subscribers', '--remove', 'asha@उदाहरण.भारत'], env)
  expect(removed.stdout).toContain('The subscription is ended')
})

it('by mobile number the subscription of the address in the enquiry is left', async () => {
  const { url, db, subscribe, erase } = await anEraser()
  await subscribe('victim@mail.example')
  await submit(url, anOrder({ email: 'victim@mail.example', mobile: '9000000009' }))
  expect(await erase('--person', '9000000009', '--yes')).toContain('Erased 1 enquiry with 2 mails and 0 subscriptions')
  expect([await db.enquiry.count(), await db.subscriber.count()]).toEqual([0, 1])
})

it('one enquiry is erased by its reference, after a dry run, and no other of the same person', async () => {
  const { url, db, subscribe, erase } = await anEraser()
  const { reference = '' } = await submit(url, anOrder())
  const { reference: other } = await submit(url, anOrder())
  await subscribe('asha.verma@shop.example')
  const what = '1 enquiry with 2 mails and 0 subscriptions'
  expect(await erase(reference)).toContain(`Would erase ${what}. Nothing was changed.`)
  expect(await erase(reference, 'QV-ZZZZZZ', '--yes')).toBe('') // one of them is none
  expect(await erase(...reference.toLowerCase().split('-'), '--yes')).toContain(`Erased ${what}.`)
  expect(await db.enquiry.findMany()).toMatchObject([{ reference: other }])
  expect(await db.subscriber.count()).toBe(1)
})

it('enquiries older than a number of days of the database’s clock are erased, after a dry run that lists them', async () => {
  const { db, erase } = await anEraser()
  const [oldest, old, young] = await Promise.all(
    [90, 21, 19].map((days) => storeEnquiry(db, { receivedAt: hoursAgo(24 * days) })),
  )
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 86_400_000 }) // a clock that is ahead
  atEnd(() => vi.useRealTimers())
  const dry = await erase('--older-than', '20d')
  expect(dry.match(/QV-\w+/g)).toEqual([oldest, old])
  const what = /^(Would erase|Erased) 2 enquiries with 4 mails and 0 subscriptions\./m
  expect(dry).toMatch(what)
  expect(await erase('--older-than', '20d', '--yes')).toMatch(what)
  expect(await db.enquiry.findMany()).toMatchObject([{ reference: young }])
  expect(await erase('--older-than', '24m')).toBe('Nothing stored matches.\n')
})
