import { readFile } from 'node:fs/promises'
import type { ClientBase } from 'pg'
import { rolesFile } from '../project-root.ts'
import { PRISMA_LOCK } from './migrations.ts'

/** Runs prisma/roles.sql as the tables' owner. Takes the lock of migrations, because two runs at once would conflict. */
export async function applyRoles(owner: ClientBase): Promise<void> {
  await owner.query(`SELECT pg_advisory_xact_lock(${PRISMA_LOCK});\n${await readFile(rolesFile(), 'utf8')}`)
}
