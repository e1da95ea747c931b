// A notice holds every field of the enquiry, an acknowledgement no name, number or address of the visitor.
// No text of a visitor becomes markup or a header line.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { EnquiryWithSecret } from '../../../server/database/enquiry.ts'
import { createAcknowledgement, createConfirmation, createNotice } from '../../../server/mail/templates.ts'
import { brand } from '../../../shared/brand.ts'
import { COMPOSITION_ID, productPath, products } from '../../../shared/catalogue.ts'
import { exampleOrder } from '../../../shared/order.ts'

const [, product] = products
const SITE = 'https://www.quvera.test'
const REFERENCE = `${brand.referencePrefix}-7K3M9P`

function anEnquiry(changes: Partial<EnquiryWithSecret> = {}): EnquiryWithSecret {
  return {
    id: '01a1fdf4-8339-745f-8cbd-639f439fea6f',
    reference: REFERENCE,
    receivedAt: new Date('2026-11-21T20:30:00Z'),
    ...exampleOrder,
    email: 'asha@shop.example',
    quantity: '24',
    retailerSelfUse: 'Self Use',
    products: product,
    status: 'New',
    suspectedSpam: false,
    contentHash: '',
    closedAs: null,
    remindOn: null,
    eraseAt: null,
    secret: 'a'.repeat(64),
    ...changes,
  }
}

describe('the staff notice', () => {
  const mail = createNotice(anEnquiry(), SITE)

  it.each(['text', 'html'] as const)('holds the six fields, the hidden one and the Indian time as %s', (part) => {
    const fields = ['Asha Verma', 'asha@shop.example', '9876543210', '24', 'Self Use', product, brand.name]
    const ways = ['tel:+919876543210', 'mailto:asha@shop.example', 'https://wa.me/919876543210']
    for (const value of [...fields, ...ways, '22 Nov 2026', '2:00', 'IST']) expect(mail[part]).toContain(value)
  })

  it('names product and quantity in its subject, begins with the call, and ends with the way to the desk', () => {
    expect(mail.subject).toBe(`${brand.name} enquiry ${REFERENCE}: 24 × ${product}, Self Use`)
    expect(mail.text).toMatch(/^Call: tel:\+919876543210\n/)
    expect(mail.text).not.toMatch(/RetailerSelfUse|productName/)
    expect(mail.text).toContain(`Open ${REFERENCE}: ${SITE}/staff/${REFERENCE}\n`)
    expect(createNotice(anEnquiry(), '').text).not.toContain('/staff') // the site has no address
  })
})

describe('the acknowledgement', () => {
  it.each(['text', 'html'] as const)('holds what was ordered as %s, and of the number only its end', (part) => {
    const mail = createAcknowledgement(anEnquiry(), SITE)
    const label = `${SITE}${productPath(product)}#${COMPOSITION_ID}`
    const ordered = [REFERENCE, product, '24', 'Self Use', 'ends in 3210', 'doctor', brand.phone]
    for (const value of [...ordered, label, `${SITE}/privacy-policy`]) expect(mail[part]).toContain(value)
    for (const hidden of ['9876543210', 'asha@shop.example']) expect(mail[part]).not.toContain(hidden)
    expect(createAcknowledgement(anEnquiry(), '')[part]).not.toMatch(/privacy-policy|physician/)
  })

  it('thanks at greater length than it says any legal line, and names the advisory whole', () => {
    const { html } = createAcknowledgement(anEnquiry(), SITE)
    const thanks = /<p>(Thank you[^<]+)/.exec(html)?.[1] ?? ''
    const legal = [...html.matchAll(/<p style="font-size:14px[^>]*>([^<]+)</g)].map(([, line = '']) => line)
    expect(legal).toHaveLength(2)
    for (const line of legal) expect(line.length).toBeLessThan(thanks.length)
    expect(legal[0]).toMatch(/supplements, not medicines.*pregnant.*medicine.*surgery.*doctor/i)
  })

  it('greets nobody by a name: a stranger may have typed it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), (name) => {
        expect(createAcknowledgement(anEnquiry({ name }), SITE)).toEqual(createAcknowledgement(anEnquiry(), SITE))
      }),
    )
    expect(createAcknowledgement(anEnquiry(), SITE).text).not.toContain('Asha')
  })

  it.each([
    ['1', '1'],
    ['9999', '9999'],
    ['10000', 'more than 9999'],
    ['919876543210', 'more than 9999'], // which may be a telephone number
  ])('tells of a quantity of %s as %s', (quantity, told) => {
    const { subject, text, html } = createAcknowledgement(anEnquiry({ quantity }), SITE)
    expect(text).toContain(`Quantity: ${told}\n`)
    if (told !== quantity) expect(subject + text + html).not.toContain(quantity)
    expect(createNotice(anEnquiry({ quantity }), SITE).text).toContain(quantity)
  })
})

it('the confirmation begins with what it asks, and says nothing of anybody', () => {
  const subscriber = { id: 'id', secret: 'secret' } as Parameters<typeof createConfirmation>[0]
  const { text } = createConfirmation(subscriber, SITE)
  expect(text).toMatch(new RegExp(`^Would you like news from ${brand.company}`))
  expect(text.replace(brand.email, '')).not.toMatch(/somebody|@/i)
})

it('sets figures of a reference in a face with lining figures, and the name in the display type', () => {
  const { html } = createAcknowledgement(anEnquiry(), SITE)
  expect(html).toMatch(new RegExp(`font:[^"]*Figtree,[^"]*">${REFERENCE}<`))
  expect(html).toMatch(new RegExp(`font:600 30px[^"]*Fraunces,[^"]*serif[^"]*">${brand.name}<`))
})

describe('both mails', () => {
  it('are the same bytes on another day, for Resend compares a repeat with the first', () => {
    const write = () => [createNotice(anEnquiry(), SITE), createAcknowledgement(anEnquiry(), SITE)]
    vi.useFakeTimers({ now: new Date('2026-11-21T20:30:00Z') })
    const first = write()
    vi.setSystemTime(new Date('2027-01-02T03:04:05Z'))
    const later = write()
    vi.useRealTimers()
    expect(later).toEqual(first)
  })

  it('let no text of a visitor become markup or a second header line', () => {
    const hostile = fc
      .array(fc.constantFrom('<script>', '"', "'", '&', '\r\n', 'Bcc: x@y.co', '</td>', 'ж', '=1+1'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(hostile, hostile, (name, email) => {
        const enquiry = anEnquiry({ name, email })
        for (const mail of [createNotice(enquiry, SITE), createAcknowledgement(enquiry, SITE)]) {
          expect(mail.subject).not.toMatch(/[\r\n]/)
          expect(mail.subject.length).toBeLessThanOrEqual(120)
          expect(mail.html).not.toContain('<script>')
          expect(mail.html.match(/<\/td>/g)?.length).toBe(mail.html.match(/<td /g)?.length)
        }
      }),
    )
  })
})
