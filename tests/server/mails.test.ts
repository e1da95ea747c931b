import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Enquiry } from '../../server/enquiries/enquiry.ts'
import { acknowledgement, staffBundle, staffNotice } from '../../server/mail/letters.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { exampleOrder } from '../../shared/order.ts'

const [, product] = products
const REFERENCE = `${brand.referencePrefix}-7K3M9P`

afterEach(() => {
  vi.useRealTimers()
})

function anEnquiry(changes: Partial<Enquiry> = {}): Enquiry {
  return {
    id: '01a1fdf4-8339-745f-8cbd-639f439fea6f',
    reference: REFERENCE,
    receivedAt: new Date('2026-11-21T20:30:00Z'),
    ...exampleOrder,
    email: 'asha@shop.example',
    quantity: '24',
    retailerSelfUse: 'Self Use',
    products: product,
    suspectedSpam: false,
    ...changes,
  }
}

describe('the staff notice', () => {
  expect(staffNotice(anEnquiry({ quantity: 'a\nb' })).html).toContain('>a<br>b<') // a field of several lines
  const mail = staffNotice(anEnquiry())

  it('names reference, product, quantity and type in its subject', () => {
    expect(mail.subject).toBe(`Enquiry ${REFERENCE}: 24 × ${product}, Self Use`)
  })

  it.each(['text', 'html'] as const)('holds the six fields, the hidden one and the Indian time as %s', (part) => {
    for (const value of [
      'Asha Verma',
      'asha@shop.example',
      '9876543210',
      '24',
      'Self Use',
      product,
      brand.name,
      '22 Nov 2026',
      '2:00',
      'IST',
    ]) {
      expect(mail[part]).toContain(value)
    }
    expect(mail[part]).toContain('tel:+919876543210')
    expect(mail[part]).toContain('mailto:asha%40shop.example')
  })
})

describe('the acknowledgement', () => {
  it.each(['text', 'html'] as const)(
    'holds reference, product, quantity and type as %s, but neither mobile nor address',
    (part) => {
      const mail = acknowledgement(anEnquiry())
      for (const value of [REFERENCE, product, '24', 'Self Use', 'Asha Verma', 'doctor'])
        expect(mail[part]).toContain(value)
      expect(mail[part]).not.toContain('9876543210')
      expect(mail[part]).not.toContain('asha@shop.example')
    },
  )

  it.each([
    'Win at evil.example',
    'http://evil',
    'Call 1800 now!',
    'www evil',
    '<a href=x>',
    'x@y.co',
    'Your refund is due',
    'Your refund is due Call the manager at the number below NOW',
    'Refund-Is-Due-Call Us',
    'Call.Us.Now',
    'Call me १८००',
    'Call Ⅻ',
    'Asha  Verma',
    'Asha\u00a0Verma\u3000Is Rich',
    "Your'refund'is'due'now",
    'a'.repeat(31),
    `${'a'.repeat(20)} ${'b'.repeat(20)}`,
  ])('does not pass on %j as a name', (name) => {
    const { subject, text, html } = acknowledgement(anEnquiry({ name }))
    expect(subject + text + html).not.toContain(name)
    expect(text).toContain('Dear Sir or Madam')
  })

  it.each(['Asha Verma', 'नमिता कुमार', "D'Souza-Rao", 'Dr. A. Rao', 'Mary-Jane O’Neil', 'José', 'Nguyễn Văn Nam'])(
    'greets %s by name',
    (name) => {
      expect(acknowledgement(anEnquiry({ name })).text).toContain(`Dear ${name},`)
    },
  )

  it('greets by three words and thirty characters without a digit at most, whatever the name', () => {
    const piece = fc.constantFrom('Call', 'refund', ' ', '-', '.', "'", '’', '9', '٣', '\u00a0', 'é', 'é', 'क', '्', '/')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const [, greeted = ''] = /^Dear (.*),$/m.exec(acknowledgement(anEnquiry({ name: pieces.join('') })).text) ?? []
        expect(greeted.length).toBeLessThanOrEqual(30)
        expect(greeted.split(/(?<!(?:^|[ -])\p{L})['’]|[ .-]/u).filter(Boolean).length).toBeLessThanOrEqual(3)
        expect(greeted).not.toMatch(/\p{N}/u)
      }),
      { numRuns: 500 },
    )
  })

  it.each(['9999', '1'])('repeats a quantity of %s', (quantity) => {
    expect(acknowledgement(anEnquiry({ quantity })).text).toContain(`Quantity: ${quantity}\n`)
  })

  it.each(['10000', '919876543210'])(
    'does not repeat a quantity of %s, which may be a telephone number',
    (quantity) => {
      const { subject, text, html } = acknowledgement(anEnquiry({ quantity }))
      expect(subject + text + html).not.toContain(quantity)
      expect(text).toContain('Quantity: as you entered it\n')
      expect(staffNotice(anEnquiry({ quantity })).text).toContain(quantity)
    },
  )
})

describe('both mails', () => {
  it('are the same bytes on another day, for Resend compares a repeat with the first', () => {
    const write = () => [staffNotice(anEnquiry()), acknowledgement(anEnquiry())]
    vi.useFakeTimers({ now: new Date('2026-11-21T20:30:00Z') })
    const first = write()
    vi.setSystemTime(new Date('2027-01-02T03:04:05Z'))
    expect(write()).toEqual(first)
  })

  it('let no text of a visitor become markup or a second header line', () => {
    const hostile = fc
      .array(fc.constantFrom('<script>', '"', "'", '&', '\r\n', 'Bcc: x@y.co', '</td>', 'ж', '=1+1'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(hostile, hostile, (name, email) => {
        const enquiry = anEnquiry({ name, email })
        for (const mail of [
          staffNotice(enquiry),
          acknowledgement(enquiry),
          staffBundle({ enquiries: [enquiry, enquiry], references: [REFERENCE, REFERENCE, REFERENCE], total: 3 }),
        ]) {
          expect(mail.subject).not.toMatch(/[\r\n]/)
          expect(mail.subject.length).toBeLessThanOrEqual(120)
          expect(mail.html).not.toContain('<script>')
          expect(mail.html.match(/<\/td>/g)?.length).toBe(staffNoticeCells(mail.html))
        }
      }),
    )
  })
})

function staffNoticeCells(html: string) {
  return html.match(/<td /g)?.length
}
