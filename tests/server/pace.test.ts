import { expect, it } from 'vitest'
import { createPace } from '../../server/mail/pace.ts'

it('sends at most 40 mails in 50 ms, and 24 while orders are being written', () => {
  let clock = 0
  const pace = createPace(() => clock)
  for (let mail = 0; mail < 200; mail++) pace.learn({ is: 'sent', resendId: String(mail) })

  const startedInOneWindow = () => {
    let started = 0
    while (pace.room(0).mails > 0) {
      pace.started()
      started++
    }
    return started
  }
  expect(startedInOneWindow()).toBe(40)
  expect(pace.room(0)).toEqual({ mails: 0, pauseMs: 50 })

  clock = 50
  pace.giveWay()
  expect(startedInOneWindow()).toBe(24)

  clock = 100
  expect(startedInOneWindow()).toBe(40)
})
