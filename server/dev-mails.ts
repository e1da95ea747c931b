import { withDatabase } from './database/open-database.ts'
import type { Env } from './env.ts'
import { escaped, writeMessage } from './mail/letters.ts'
import { readClaimed } from './mail/owed.ts'

const NEWEST = 20

/** The newest mails as their receivers see them, sent or not: what `npm run dev` shows at /mails. */
export async function mailsPage(env: Env, publicUrl: string): Promise<string> {
  const mails = await withDatabase(env, async ({ db }) => {
    const where = { kind: { not: 'Post' as const }, bundledInto: null }
    const rows = await db.mail.findMany({ where, orderBy: { id: 'desc' }, take: NEWEST })
    return readClaimed(
      db,
      rows.map(({ id }) => ({ id, ambiguousAt: null })),
    )
  })
  const shown = mails
    .sort((a, b) => Number(b.id - a.id))
    .map((mail) => {
      const message = writeMessage(mail, env.STAFF_EMAILS, publicUrl)
      if (!message) return ''
      return `<h2>${escaped(message.subject)}</h2><p>to ${escaped(message.to.join(', '))}</p><iframe sandbox title="Mail ${mail.id}" width="100%" height="480" srcdoc="${escaped(message.html)}"></iframe>`
    })
  return `<!doctype html><meta charset="utf-8"><title>Mails</title><h1>The newest ${NEWEST} mails</h1>${shown.join('') || '<p>None yet: send the form.</p>'}`
}
