import { brand } from '../../shared/brand.ts'
import { exampleOrder } from '../../shared/order.ts'
import { OperatorError } from '../errors.ts'
import { bodyOf, post } from '../mail/posts.ts'
import type { AddCommand, Terminal } from './output.ts'

export function testNotifyCommand(add: AddCommand, { env, print }: Terminal) {
  add('test-notify')
    .summary('post a made-up enquiry to NOTIFY_URL and tell what came back')
    .description(`Posts once, as the site does for each enquiry: NOTIFY_FORMAT says whether a line for a chat or the whole enquiry, of
the type "test". The database is not used.`)
    .action(async () => {
      const { NOTIFY_URL: url, NOTIFY_SECRET: secret, NOTIFY_FORMAT: format } = env()
      if (!url) throw new OperatorError('NOTIFY_URL is not set, so nothing can be posted.')
      const id = crypto.randomUUID()
      const enquiry = {
        ...exampleOrder,
        quantity: String(exampleOrder.quantity),
        id,
        reference: `${brand.referencePrefix}-TEST22`,
        receivedAt: new Date(),
        suspectedSpam: false,
      }
      const { isTaken, error, words } = await post(url, secret, `test/${id}`, bodyOf(format, enquiry, 'test'))
      const { origin } = new URL(url)
      if (!isTaken) throw new OperatorError(`Not taken by ${origin}: ${[error, words].filter(Boolean).join(': ')}`)
      print(
        `${origin} took the enquiry ${enquiry.reference}, which is made up (${error}). Now look whether it is there.`,
      )
    })
}
