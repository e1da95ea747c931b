// The order schema takes every order that keeps the owner's rules, and refuses any other with one of its messages.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { messages, orderFields, orderSchema, problemOf, readOrderFields } from '../../shared/order.ts'
import { anOrder } from '../support/an-order.ts'

function told(changes: Record<string, unknown>): string | undefined {
  const result = orderSchema.safeParse(anOrder(changes))
  return result.success ? undefined : problemOf(result.error).message
}

it('the owner’s words for an order that is stored, and for one that is not', () => {
  expect(messages).toMatchObject({ received: 'Order Received Successfully', failed: 'Error adding document' })
})

describe('the owner’s four rules', () => {
  it.each(['name', 'email', 'mobile', 'quantity', 'retailerSelfUse', 'products'])(
    'asks for %s when it is not filled',
    (field) => {
      for (const empty of ['', null, undefined, '  ']) {
        expect(told({ [field]: empty })).toBe('Please fill the data')
      }
    },
  )

  it.each([
    ...'plain a@b a@b.c a@@b.co @b.co a@.co .a@b.co a.@b.co a..b@c.co a@-b.co a@b-.co a@c.b-.co'.split(' '),
    ...'asha@shop.xn-- asha@shop.xn--a- asha@shop.x1 asha@shоp.example'.split(' '),
    ...['a b@c.co', 'a@b.co\n', 'a@b.co, c@d.co', 'Asha <a@b.co>', 'a@b.co\r\nBcc: c@d.co'],
    ...['asha@shop\u212a.example', 'asha@\u017fhop.example', 'asha@shop.example\u212a'],
    ...[...'\u202e\u200b\u200d\ufeff\u00ad\u{e0041}\u3164'].map((hidden) => `asha${hidden}@shop.example`),
  ])('refuses the address %j', (email) => expect(told({ email })).toBe('Please enter a valid email address'))

  it.each([
    ...["o'neil@sub.domain.co.in", ...'a@b.co A.B+c@SHOP.Example x_y-z@a-b.org a-.b.-@a--b.co'.split(' ')],
    ...'asha@dukan.xn--h2brj9c asha@SHOP.XN--P1AI asha@xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g'.split(' '),
  ])('takes the address %s', (email) => expect(told({ email })).toBeUndefined())

  it.each(['98765-43210', '+919876543210', '९८७६५४३२१०', '9876543210\n', 'call me', 9876543210, '98765 4321'])(
    'wants digits only, not %j',
    (mobile) => expect(told({ mobile })).toBe('Please enter only number.'),
  )

  it.each(['1', '987654321', '98765432101'])('wants ten digits, not %s', (mobile) =>
    expect(told({ mobile })).toBe('Please enter 10 digit Mobile number.'),
  )

  it('tells the first failing rule first', () => {
    expect(told({ name: '', email: 'x', mobile: 'y', quantity: 0 })).toBe('Please fill the data')
    expect(told({ email: 'x', mobile: 'y', quantity: 0 })).toBe('Please enter a valid email address')
    expect(told({ mobile: 'y', quantity: 0 })).toBe('Please enter only number.')
    expect(told({ mobile: '1', quantity: 0 })).toBe('Please enter 10 digit Mobile number.')
    expect(told({ products: '', email: 'x' })).toBe('Please fill the data')
  })

  it('names every field that breaks a rule, each with its own first one', () => {
    const result = orderSchema.safeParse(anOrder({ name: '', mobile: '', email: 'x' }))
    expect(result.success ? {} : problemOf(result.error).fields).toEqual({
      name: messages.empty,
      email: messages.email,
      mobile: messages.empty,
    })
  })
})

describe('quantity', () => {
  it.each([
    [0, messages.quantity],
    [-1, messages.quantity],
    [1.5, messages.wholeQuantity],
    ['2', messages.wholeQuantity],
    [true, messages.wholeQuantity],
    [[2], messages.wholeQuantity],
    [Number.NaN, messages.wholeQuantity],
    [Number.POSITIVE_INFINITY, messages.largeQuantity],
    [2 ** 53, messages.largeQuantity],
  ])('%j is refused: %s', (quantity, message) => expect(told({ quantity })).toBe(message))

  it.each([1, 2 ** 31, 2 ** 53 - 1])('%d is taken', (quantity) => expect(told({ quantity })).toBeUndefined())
})

describe('name', () => {
  it.each([...['नमस्ते कुमार', '😀 Ali', '<b>Bold</b>', '=SUM(A1)', 'क्\u200dष', 'Zoe\u0308', '👩\u200d⚕\ufe0f Rao']])(
    'takes %j whole',
    (name) => {
      expect(orderSchema.parse(anOrder({ name })).name).toBe(name)
    },
  )

  it.each([
    'a\u0000b',
    'a\r\nBcc: x@y.co',
    'a\ud800',
    'x'.repeat(201),
    ...[...'\u00ad\u061c\u200b\u200e\u200f\u202e\u2028\u2060\u2066\ufeff\u{e0041}'].map((hidden) => `As${hidden}ha`),
    ...[...'\u034f\u115f\u1160\u17b4\u2800\u3164\uffa0'].map((blank) => `As${blank}ha`),
    `a${'\u0344'.repeat(9)}`,
  ])('refuses %j', (name) => {
    expect(told({ name })).toBe(messages.name)
  })

  it.each([
    ...['\u3164', '\u115f\u1160', '\u2800 \u2800', '\uffa0', '\u0301\u0308', '\u093f\u094d'],
    ...['\u200d\u200c', '\ufe0f', '\u200b', '\u00a0\u3000', '\u{e0041}'],
  ])('that looks empty is empty: %j', (name) => expect(told({ name })).toBe('Please fill the data'))
})

it('the limits of the inputs are those of the rules', () => {
  const fill = { name: (length: number) => 'x'.repeat(length), email: (length: number) => anAddressOf(length) }
  for (const [field, textOf] of Object.entries(fill)) {
    const { max = 0 } = orderFields[field as keyof typeof fill]
    expect(told({ [field]: textOf(max) })).toBeUndefined()
    expect(told({ [field]: textOf(max + 1) })).toBe(messages[field as keyof typeof fill])
  }
})

function anAddressOf(length: number) {
  const labels = `${'a'.repeat(60)}.`.repeat(3)
  return `${'x'.repeat(length - labels.length - '@.co'.length - 30)}@${labels}${'b'.repeat(30)}.co`
}

describe('everything else', () => {
  it.each([
    { id: 1 },
    { status: 'Closed' },
    JSON.parse('{"__proto__": {"x": 1}}'),
    { submissionKey: 'x' },
    { productName: 'Other' },
  ])('refuses %j', (extra) => expect(told(extra)).toBe(messages.malformed))

  it.each(['__proto__', 'constructor', `${brand.name} 500`])('refuses the product %s', (products) =>
    expect(told({ products })).toBe(messages.product),
  )

  it.each([null, [], 'text', 7])('refuses %j as an order', (order) => {
    const result = orderSchema.safeParse(order)
    expect(result.success ? '' : problemOf(result.error).message).toBe(messages.malformed)
  })

  it('tells one of its own texts whatever comes, and never throws', () => {
    const texts: string[] = Object.values(messages)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(anOrder()), 'other'), fc.anything()), (changes) => {
        const message = told(changes)
        return message === undefined || texts.includes(message)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a form', () => {
  const read = (changes: Record<string, string>) => readOrderFields(new Map(Object.entries(changes)))

  it.each([
    ['asha@उदाहरण.भारत', 'asha@xn--p1b6ci4b4b3a.xn--h2brj9c'],
    ['asha@bücher.example', 'asha@xn--bcher-kva.example'],
    ['asha@Shop.Example', 'asha@Shop.Example'],
  ])('takes the domain of %s as browsers that convert it send it', (typed, email) => {
    expect(read({ email: typed }).email).toBe(email)
    expect(told({ email })).toBeUndefined()
  })

  it.each(['asha@भारत', 'asha@उदाहरण.भारत/x', 'asha@उदाहरण.भारत:80', 'asha@１２７.０.０.１', '@', 'भारत'])(
    'refuses %s as any other domain that cannot be',
    (typed) => {
      expect(told({ email: read({ email: typed }).email })).toBe(messages.email)
    },
  )

  it.each([
    ...['(+91) 98765-43210', '+91 098765 43210', '0091 (0) 98765 43210', '98765.43210', '98765–43210'],
    ...[
      '\u202a98765 43210\u202c',
      '98765\u201143210',
      '98765\u221243210',
      '\u2066+91—98765‐43210\u2069',
      '\ufeff098765-43210',
    ],
    ...['+९१ ९८७६५-४३२१०', '٩٨٧٦٥٤٣٢١٠', '௯௮௭௬௫௪௩௨௧௦', '９８７６５４３２１０'],
  ])('understands a mobile number as people write and paste it: %j', (mobile) =>
    expect(read({ mobile }).mobile).toBe('9876543210'),
  )

  it.each(['98765/43210', '+1 98765 43210', '+91 9876543210 ext 5', 'नौ'])('does not guess what %j means', (mobile) =>
    expect(told({ mobile: read({ mobile }).mobile })).toBe(messages.digits),
  )

  it('reads every decimal digit of Unicode as its value', () => {
    const digits = Array.from({ length: 0x11_0000 }, (_, code) => code)
      .filter((code) => (code < 0xd800 || code > 0xdfff) && /\p{Nd}/u.test(String.fromCodePoint(code)))
      .map((code) => String.fromCodePoint(code))
    expect(digits.length % 10).toBe(0)
    for (let at = 0; at < digits.length; at += 10)
      expect(read({ mobile: digits.slice(at, at + 10).join('') }).mobile).toBe('0123456789')
  })

  it.each([
    ['\u202bAsha\u202c Ver\u00adma\ufeff', 'Asha Verma'],
    ['As\u200dha\u200c', 'Asha'],
    ['क्\u200dष', 'क्\u200dष'],
    ['👩\u200d⚕\ufe0f Rao', '👩\u200d⚕\ufe0f Rao'],
    ['Zoe\u0308', 'Zo\u00eb'],
    ['\u200b', ''],
  ])('takes what is invisible off a name, and composes it: %j', (typed, name) => {
    expect(read({ name: typed }).name).toBe(name)
    expect(told({ name: read({ name: typed }).name })).toBe(name ? undefined : messages.empty)
  })

  it.each(['asha@shop.in\u200b', '\u202aasha@shop.in\u202c', 'as\u200dha@sh\u00adop.in'])(
    'takes what is invisible off an address: %j',
    (email) => {
      expect(read({ email }).email).toBe('asha@shop.in')
      expect(told({ email })).toBe(messages.email) // order.submit is strict
    },
  )

  it.each([
    ['0x10', messages.wholeQuantity],
    ['Infinity', messages.wholeQuantity],
    ['1_000', messages.wholeQuantity],
    ['9007199254740991.4', messages.wholeQuantity],
    ['1.5', messages.wholeQuantity],
    ['.', messages.wholeQuantity],
    ['1e999', messages.largeQuantity],
    ['', messages.empty],
    ['24.0', undefined],
    ['1.5e1', undefined],
    ['2\u200e', undefined],
  ])('reads the quantity %j as a browser does in a number field', (quantity, message) =>
    expect(told({ quantity: read({ quantity }).quantity })).toBe(message),
  )
})
