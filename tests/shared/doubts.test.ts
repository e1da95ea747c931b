// The form asks about a mobile number that no Indian network has, and about an address with a slip in a well-known domain.
import { expect, it } from 'vitest'
import { doubtTexts } from '../../client/content/enquiry-form.ts'
import { doubtsOf } from '../../client/enquiry/doubts.ts'

const mobile = '9876543210'
const email = 'asha@shop.example'

it.each(['9', '987654321', '98765432101'])('says how many digits %s has', (mobile) =>
  expect(doubtsOf({ mobile })).toEqual({ mobile: doubtTexts.digits(mobile.length) }),
)

it.each(['0000000000', '1234567890', '5876543210'])('asks about the number %s', (doubtful) =>
  expect(doubtsOf({ mobile: doubtful, email })).toEqual({ mobile: doubtTexts.mobile }),
)

it.each(['6000000000', '7876543210', '8876543210', mobile])('does not ask about the number %s', (right) =>
  expect(doubtsOf({ mobile: right, email })).toEqual({}),
)

it.each([
  ['meera@gmial.con', 'meera@gmail.com'],
  ['meera@gmai.com', 'meera@gmail.com'],
  ['Meera.K@Gnail.com', 'Meera.K@gmail.com'],
  ['meera@gmail.co', 'meera@gmail.com'],
  ['meera@yaho.com', 'meera@yahoo.com'],
  ['meera@yahoo.co.i', 'meera@yahoo.co.in'],
  ['meera@hotmial.com', 'meera@hotmail.com'],
  ['meera@redifmail.com', 'meera@rediffmail.com'],
  ['meera@outlok.com', 'meera@outlook.com'],
  ['meera@shop.con', 'meera@shop.com'],
])('asks whether %s is %s', (typed, meant) => expect(doubtsOf({ mobile, email: typed })).toEqual({ email: meant }))

it.each(
  'gmail.com ymail.com mail.com yahoo.co.in live.com zoho.in dukan.in xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g'.split(' '),
)('does not ask about an address at %s', (domain) => expect(doubtsOf({ mobile, email: `asha@${domain}` })).toEqual({}))
