import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../support/test-database.ts'

const project = resolve(import.meta.dirname, '../..')

it('an export through npm leaves npm’s own lines out of its file, and what was in a file before where it was', async () => {
  const { env, drop } = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'quvera-output-'))
  const [fresh, kept] = [join(folder, 'fresh.csv'), join(folder, 'kept.csv')]
  await writeFile(kept, 'was here\n')
  const options = { cwd: project, env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env } }
  try {
    await promisify(execFile)('sh', ['-c', `npm run staff -- export > ${fresh}`], options)
    await promisify(execFile)('sh', ['-c', `npm run staff -- export >> ${kept}`], options)
    expect(await readFile(fresh, 'utf8')).toMatch(/^\ufeff"Reference","Received",/)
    expect(await readFile(kept, 'utf8')).toMatch(/^was here\n/)
  } finally {
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
})
