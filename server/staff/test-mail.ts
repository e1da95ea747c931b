import { brand } from '../../shared/brand.ts'
import { emailSchema } from '../../shared/order.ts'
import { OperatorError } from '../errors.ts'
import { createMailer } from '../mail/resend.ts'
import { UsageError } from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

const TIMEOUT_MS = 10_000

export function testMailCommand(add: AddCommand, { env, print }: Terminal) {
  add('test-mail')
    .summary('send one mail through Resend and tell what came back')
    .argument('<address>')
    .description(`Sends one mail from MAIL_FROM with RESEND_API_KEY, through the same service as the site's mails, and tells word for
word what Resend answered. The database is not used.`)
    .action(async (to: string) => {
      if (!emailSchema.safeParse(to).success) throw new UsageError(`"${to}" is not a mail address`)
      const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env()
      if (!apiKey) throw new OperatorError('RESEND_API_KEY is not set, so no mail can be sent.')
      const words = `This mail was sent by hand, to see that mails of the ${brand.name} website arrive.`
      const { outcome } = await createMailer({ apiKey, baseUrl, from }).send(
        {
          idempotencyKey: `test/${crypto.randomUUID()}`,
          to: [to],
          subject: `Test mail of the ${brand.name} website`,
          text: words,
          html: `<p>${words}</p>`,
        },
        AbortSignal.timeout(TIMEOUT_MS),
      )
      const through = `from ${from} through ${baseUrl ?? 'Resend'}`
      if (outcome.is !== 'sent') throw new OperatorError(`Not sent ${through}: ${outcome.error}`)
      print(`Resend took the mail ${through}, with the id ${outcome.resendId}. Now look into the mailbox of ${to}.`)
    })
}
