// The tab keeps a key for each product: what may be stored under one is never sent, or forgotten, under another.
import { beforeEach, expect, it } from 'vitest'
import { addKey, adoptKey, mayBeStored, startTry } from '../../client/enquiry/order-key.ts'
import { products } from '../../shared/catalogue.ts'

const [one, other] = products

beforeEach(() => sessionStorage.clear())

/** Posts the form of a page that holds this key. @returns the key that goes with it */
function post(product: string, held: string) {
  const form = document.createElement('form')
  form.id = 'order'
  form.addEventListener('formdata', addKey)
  for (const [name, value] of Object.entries({ products: product, submissionKey: held })) {
    const field = Object.assign(document.createElement('input'), { name, value })
    form.append(field)
  }
  document.body.replaceChildren(form)
  return new FormData(form).get('submissionKey')
}

it('the page of a failure, posted for the other product, keeps both keys', () => {
  const ofOther = startTry(other).key // its answer was lost
  const held = crypto.randomUUID()
  expect(post(one, held)).toBe(held)
  adoptKey(held, one, true)
  expect(post(other, held)).toBe(ofOther)
  expect([mayBeStored(one), mayBeStored(other)]).toEqual([true, true])
  expect([startTry(one).key, startTry(other).key]).toEqual([held, ofOther])
})

it('the page of a failure, on which no product was chosen, goes out under its key', () => {
  const held = crypto.randomUUID()
  adoptKey(held, '', false)
  expect(post(one, held)).toBe(held)
  expect([mayBeStored(one), mayBeStored(other)]).toEqual([true, false])
})
