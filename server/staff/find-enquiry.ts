import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { OperatorError } from '../errors.ts'
import { UsageError } from './command.ts'

/** `qv-7k3m9p` or `7K3M9P`: the reference as it is stored. */
export function readReference(text: string): string {
  const prefix = `${brand.referencePrefix}-`
  const upper = text.trim().toUpperCase()
  const code = upper.startsWith(prefix) ? upper.slice(prefix.length) : upper
  if (!/^[0-9A-Z]{6}$/.test(code))
    throw new UsageError(`"${text}" is not a reference such as ${prefix}7K3M9P. Try: find ${text}`)
  return prefix + code
}

/** @throws OperatorError when one of them is not there: then nothing is to be changed */
export async function findByReference(db: Db, references: string[]) {
  const rows = await db.enquiry.findMany({
    where: { reference: { in: references } },
    include: { mails: { orderBy: { id: 'asc' } } },
  })
  const found = new Map(rows.map((row) => [row.reference, row]))
  return references.map((reference) => {
    const row = found.get(reference)
    if (!row) throw new OperatorError(`There is no enquiry ${reference}. \`staff find TEXT\` looks for others.`)
    return row
  })
}
