// The desk while its database is away: nothing is shown, and nobody learns who is staff.
import { expect, it } from 'vitest'
import { callDesk, enterDesk, getStaff, postStaff } from '../support/desk.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'

const { setUp, postgres } = createFaultFixtures()

it('with a frozen database it answers in words of its own, the sign-in page as ever, and goes on by itself', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  const cookie = await fixture.inspect((db) => enterDesk({ url: server.url, db }))
  await postgres().freeze()

  const call = await callDesk(server.url, cookie, 'list', { state: 'new' })
  expect([call.status, call.data]).toEqual([503, undefined])
  expect(call.message).toMatch(/^The database does not answer/)
  const page = await getStaff(server.url, '', { cookie })
  expect([page.status, (await page.text()).includes('The database does not answer')]).toEqual([503, true])
  for (const email of [STAFF, 'stranger@shop.example']) {
    const start = performance.now()
    expect((await postStaff(server.url, 'sign-in', { email, to: '/staff' })).status).toBe(303)
    expect(performance.now() - start).toBeLessThan(500)
  }
  const signIn = await getStaff(server.url, '/sign-in', { cookie })
  expect([signIn.status, (await signIn.text()).includes('Your mail address')]).toEqual([200, true])
  expect((await postStaff(server.url, 'enter', { token: 'x'.repeat(43) })).status).toBe(503)
  expect(server.stdout()).not.toContain(STAFF)

  await postgres().thaw()
  await eventually(async () => expect((await callDesk(server.url, cookie, 'list', { state: 'new' })).status).toBe(200))
})
