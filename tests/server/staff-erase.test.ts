// Staff can erase a person, single enquiries or old ones. Nothing is erased without --yes, and nothing else with it.
import { describe, expect, it, vi } from 'vitest'
import { anOrder, call, postForm, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { aSite } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'

describe('erase', () => {
  it('changes nothing without --yes, and then erases this person and nobody else', async () => {
    const { url, env } = await aSite()
    const { reference } = await submit(url, anOrder())
    const other = await submit(url, anOrder({ email: 'ashaXverma@shop.example' }))
    await call(url, 'subscription.subscribe', { email: 'asha.verma@shop.example' })
    const who = ['--person', 'ASHA.VERMA@shop.example']

    const dry = await staff(['erase', ...who], env)
    expect(dry.stdout).toContain(`${reference}  `)
    expect(dry.stdout).toContain('Would erase 1 enquiry with 2 mails and 1 subscription. Nothing was changed.')
    expect((await staff(['export'], env)).stdout).toContain(reference)

    expect((await staff(['erase', ...who, '--yes'], env)).stdout).toContain('Erased 1 enquiry with 2 mails')
    const left = await staff(['export'], env)
    expect(left.stdout).toContain(other.reference)
    expect(left.stdout).not.toContain(reference)
    expect((await staff(['mails'], env)).stdout).not.toContain(reference)
    expect((await staff(['erase', ...who, '--yes'], env)).stdout).toBe('Nothing stored matches.\n')
  })

  it('finds a person whose address has a domain in another script, as the person writes it', async () => {
    const { url, env } = await aSite()
    await postForm(url, anOrder({ email: 'asha@उदाहरण.भारत' }))
    await call(url, 'subscription.subscribe', { email: 'asha@xn--p1b6ci4b4b3a.xn--h2brj9c' })
    const { stdout } = await staff(['erase', '--person', 'Asha@उदाहरण.भारत'], env)
    expect(stdout).toContain('Would erase 1 enquiry with 2 mails and 1 subscription.')
    const removed = await staff(['subscribers', '--remove', 'asha@उदाहरण.भारत'], env)
    expect(removed.stdout).toContain('The subscription is ended')
  })

  it('by mobile number leaves the subscription of the address in the enquiry', async () => {
    const { url, db, env } = await aSite()
    await call(url, 'subscription.subscribe', { email: 'victim@mail.example' })
    await submit(url, anOrder({ email: 'victim@mail.example', mobile: '9000000009' }))
    const { stdout } = await staff(['erase', '--person', '9000000009', '--yes'], env)
    expect(stdout).toContain('Erased 1 enquiry with 2 mails and 0 subscriptions')
    expect([await db.enquiry.count(), await db.subscriber.count()]).toEqual([0, 1])
  })

  it('erases one enquiry by its reference, after a dry run, and no other of the same person', async () => {
    const { url, env } = await aSite()
    const { reference = '' } = await submit(url, anOrder())
    const other = await submit(url, anOrder())
    await call(url, 'subscription.subscribe', { email: 'asha.verma@shop.example' })
    const erase = async (...words: string[]) => staff(['erase', ...words], env)
    const what = '1 enquiry with 2 mails and 0 subscriptions'
    expect((await erase(reference)).stdout).toContain(`Would erase ${what}. Nothing was changed.`)
    expect(await erase(reference, 'QV-ZZZZZZ', '--yes')).toMatchObject({ code: 1, stdout: '' })
    expect((await erase(...reference.toLowerCase().split('-'), '--yes')).stdout).toContain(`Erased ${what}.`)
    const left = JSON.parse((await staff(['export', '--person', 'asha.verma@shop.example'], env)).stdout)
    expect(left).toMatchObject({ enquiries: [{ Reference: other.reference }], subscriptions: [{}] })
  })

  it('erases enquiries older than a number of days of the database’s clock, after a dry run that lists them', async () => {
    const { db, env } = await aSite()
    const [oldest, old, young] = await Promise.all(
      [90, 21, 19].map((days) => storeEnquiry(db, { receivedAt: hoursAgo(24 * days) })),
    )
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 86_400_000 }) // a clock that is ahead
    atEnd(() => vi.useRealTimers())
    const dry = (await staff(['erase', '--older-than', '20d'], env)).stdout
    expect(dry.match(/QV-\w+/g)).toEqual([oldest, old])
    const what = /^(Would erase|Erased) 2 enquiries with 4 mails and 0 subscriptions\./m
    expect(dry).toMatch(what)
    expect((await staff(['erase', '--older-than', '20d', '--yes'], env)).stdout).toMatch(what)
    expect(await db.enquiry.findMany()).toMatchObject([{ reference: young }])
    expect((await staff(['erase', '--older-than', '24m'], env)).stdout).toBe('Nothing stored matches.\n')
  })
})
