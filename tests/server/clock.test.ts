// Staff see no negative age, even of an enquiry that is dated in the future.
import { expect, it } from 'vitest'
import { anOpenDatabase } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'

it('no age is shown as negative', async () => {
  const { db, env } = await anOpenDatabase()
  await storeEnquiry(db, { receivedAt: hoursAgo(-48) }, { Notice: 'Pending', Acknowledgement: 'Pending' })
  for (const command of [['mails'], ['check']]) {
    const { code, stdout } = await staff(command, env)
    expect({ code, stdout }, command[0]).toEqual({
      code: 0,
      stdout: expect.not.stringMatching(/-[\d,]+ (second|minute|hour|day)/),
    })
  }
})
