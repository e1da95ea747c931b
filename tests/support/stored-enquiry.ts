import type { Db } from '../../server/database/database.ts'
import { type MailStatus, Product } from '../../server/database/generated/enums.ts'
import { withDatabase } from '../../server/database/open.ts'
import { products } from '../../shared/catalogue.ts'
import { STAFF } from './fake-resend.ts'

type Fields = Partial<Parameters<Db['enquiry']['create']>[0]['data']>
type Mails = { [Kind in 'Notice' | 'Acknowledgement']?: string | [status: string, reason: string] }

/** As the database's types call what shared/catalogue.ts does. */
const storedProducts = Object.values(Product) as [Product, Product]
const HOUR_MS = 3_600_000

export const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

/** The columns of a mail in this state. */
export const columnsOf = (status: MailStatus, dueAt = new Date()) => ({
  status,
  dueAt: status === 'Pending' ? dueAt : null,
  sentAt: ['Sent', 'Delivered', 'Bounced', 'Complained'].includes(status) ? new Date() : null,
  withheldBecause: status === 'Withheld' ? ('TooOld' as const) : null,
})

/** An enquiry as it stands in the table, with mails in any state, such as `{ Notice: ['Bounced', 'mailbox full'] }`. */
export async function storeEnquiry(db: Db, fields: Fields = {}, mails: Mails = {}): Promise<string> {
  const reference = `QV-${Array.from({ length: 6 }, () => 'ABCDEFGH23456789'[Math.floor(Math.random() * 16)]).join('')}`
  const { reference: stored } = await db.enquiry.create({
    data: {
      id: crypto.randomUUID(),
      reference,
      name: 'Asha Verma',
      email: 'asha.verma@shop.example',
      mobile: '9876543210',
      quantity: 24n,
      retailerSelfUse: 'Retailer',
      products: storedProducts[0],
      privacyNoticeVersion: '2026-11',
      submissionKey: crypto.randomUUID(),
      ...fields,
      mails: {
        create: Object.entries({ Notice: 'Delivered', Acknowledgement: 'Delivered', ...mails }).map(([kind, state]) => {
          const [status = '', lastError = null] = Array.isArray(state) ? state : [state]
          return {
            kind: kind as 'Notice',
            to: kind === 'Notice' ? STAFF : null,
            lastError,
            attempts: status === 'Pending' ? 0 : 1,
            queuedAt: fields.receivedAt ?? new Date(),
            ...columnsOf(status as MailStatus, fields.receivedAt as Date),
          }
        }),
      },
    },
  })
  return stored
}

/** So many enquiries at once, each with a pending notice and acknowledgement. */
export async function storeEnquiries(db: Db, count: number, receivedAt = new Date()): Promise<void> {
  await db.$executeRaw`
    WITH form AS (
      INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
      SELECT gen_random_uuid(), 'QV-' || upper(translate(lpad(to_hex(n), 6, '0'), '01', 'gh')), ${receivedAt}, 'x', 'a' || n || '@shop.example', '9876543210', 1, 'Self Use', ${products[1]}::"Quvera_Product", '1', gen_random_uuid()
      FROM generate_series(1, ${count}::int) n RETURNING "Id", "ReceivedAt"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "QueuedAt", "DueAt")
    SELECT "Id", kind::"Quvera_MailKind", receiver, "ReceivedAt", "ReceivedAt" FROM form
    CROSS JOIN (VALUES ('Notice', ${STAFF}), ('Acknowledgement', NULL)) AS mails (kind, receiver)`
}

/** Works on the database of a test beside whatever else uses it. */
export function onDatabase<T>(env: Record<string, string>, work: (db: Db) => Promise<T>): Promise<T> {
  return withDatabase({ DATA_DIR: '', ...env }, ({ db }) => work(db))
}
