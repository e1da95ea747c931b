import { brand } from '../../shared/brand.ts'
import { emailSchema } from '../../shared/order.ts'
import { OperatorError } from '../errors.ts'
import { createMailer } from '../mail/resend.ts'
import { type Command, parse, UsageError } from './command.ts'

const TIMEOUT_MS = 10_000

export const testMailCommand: Command = {
  summary: 'send one mail through Resend and tell what came back',
  help: `Usage: npm run -s staff -- test-mail ADDRESS

Sends one mail from MAIL_FROM with RESEND_API_KEY, through the same service as the site's mails, and tells word for
word what Resend answered. The database is not used.`,
  async run(args, env) {
    const [to, ...rest] = parse(args, {}, { positionals: true }).positionals
    if (!to || rest.length > 0) throw new UsageError('Name one mail address')
    if (!emailSchema.safeParse(to).success) throw new UsageError(`"${to}" is not a mail address`)
    const { RESEND_API_KEY: key, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env()
    if (!key) throw new OperatorError('RESEND_API_KEY is not set, so no mail can be sent.')

    const words = `This mail was sent by hand, to see that mails of the ${brand.name} website arrive.`
    const { outcome } = await createMailer({ apiKey: key, baseUrl, from }).send(
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
    console.log(`Resend took the mail ${through}, with the id ${outcome.resendId}. Now look into the mailbox of ${to}.`)
  },
}
