// A mail changes its state only as the table of states allows, and only one file of the server changes states.
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { Prisma } from '../../server/database/generated/client.ts'
import { type MailStatus, MailStatus as States } from '../../server/database/generated/enums.ts'
import { transition } from '../../server/mail/queue.ts'
import { states } from '../../server/mail/states.ts'
import { atEnd } from '../support/at-end.ts'
import { openTestDatabase } from '../support/open-test-database.ts'

const all = Object.values(States) as MailStatus[]

/** What a mail may become, written out once more. */
const ALLOWED: Record<MailStatus, MailStatus[]> = {
  Pending: ['Pending', 'Sent', 'Delivered', 'Bounced', 'Failed', 'Complained', 'Unknown', 'Withheld'],
  Sent: ['Delivered', 'Bounced', 'Failed', 'Complained'],
  Failed: ['Pending', 'Withheld', 'Delivered', 'Complained'],
  Unknown: ['Pending', 'Withheld', 'Sent', 'Delivered', 'Bounced', 'Failed', 'Complained'],
  Withheld: ['Pending'],
  Delivered: ['Bounced', 'Failed', 'Complained'],
  Bounced: ['Delivered', 'Complained', 'Withheld'],
  Complained: ['Delivered', 'Withheld'],
}

describe('the state of a mail', () => {
  it('changes as the table of states allows, for each pair of states', async () => {
    const { db, close } = await openTestDatabase()
    atEnd(close)
    for (const from of all)
      for (const to of all) {
        const { id } = await db.mail.create({ data: { kind: 'Summary', key: 'x', status: from } })
        const changed = await transition(db, to, Prisma.sql`mail."Id" = ${id}`, Prisma.sql`"LastError" = 'changed'`)
        const isAllowed = ALLOWED[from].includes(to)
        expect([from, to, changed]).toEqual([from, to, Number(isAllowed)])
        const row = await db.mail.findUniqueOrThrow({ where: { id } })
        expect(row).toMatchObject(isAllowed ? { status: to, lastError: 'changed' } : { status: from, lastError: null })
      }
    expect(Object.fromEntries(all.map((state) => [state, new Set(states[state].next)]))).toEqual(
      Object.fromEntries(all.map((state) => [state, new Set(ALLOWED[state])])),
    )
  })

  it('is changed by no other statement of the server, typed or in SQL', async () => {
    const files = await readdir('server', { recursive: true })
    const offenders: string[] = []
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.includes('generated'))) {
      const text = await readFile(`server/${file}`, 'utf8')
      const statements = text.match(/UPDATE "Quvera_Mail"[^`]*?(?:WHERE|`)/g) ?? []
      const typed = text.match(/\bmail\.(?:update|updateMany|upsert)\(/g) ?? []
      for (const statement of statements) if (/(?:SET|,)\s+"Status" =/.test(statement)) offenders.push(file)
      if (typed.length > 0) offenders.push(file)
    }
    expect(offenders).toEqual(['mail/queue.ts'])
  })
})
