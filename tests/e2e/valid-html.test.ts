// Every page of visitors is valid HTML as it is served. Forms that scripts have changed: accessible.test.ts.
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { anAddress, typedOrder } from '../support/fill-order.ts'
import { faultsOf } from '../support/valid-html.ts'
import { paths, siteForTests } from '../support/visit.ts'

const { fetch, html } = siteForTests({ pictures: false })
it.each([
  ...[...paths, '/nowhere', '/subscribed', '/subscription?token=unknown'],
  ...['/staff/sign-in', '/staff/sign-in?sent', '/staff/enter?token=unknown'],
])('%s', async (path) => {
  expect(await faultsOf(await html(path))).toEqual([])
})

it('the pages that answer forms sent without scripts', async () => {
  for (const [path, values] of [
    ['/buy-now', { ...typedOrder, name: '', email: 'nobody' }],
    ...(brand.newsletter ? [[productPath(products[0]), { email: 'nobody' }] as const] : []),
    ['/buy-now', { ...typedOrder, email: anAddress() }],
  ] as const) {
    const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(values) })
    if (answer.ok) expect(answer.url).toContain(RECEIVED_PATH)
    const source = await answer.text()
    expect(await faultsOf(source), path).toEqual([])
    expect(source).not.toContain('public-url.invalid') // the place of PUBLIC_URL, in this page too
  }
})
