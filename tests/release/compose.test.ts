// Docker Compose understands each of its uses in the documents, with the settings that docs/configuration.md gives.
// Not in `npm test`: it needs Compose. It needs no container engine.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'

/** Debian's `docker-compose`, or the plugin. */
const compose = [['docker-compose'], ['docker', 'compose']].find(
  ([program = '', ...args]) => spawnSync(program, [...args, 'version']).status === 0,
)
if (!compose) console.warn('Neither docker-compose nor docker compose is here: the compose files were not tried.')

const ONE = 'compose.yaml'
const POSTGRES = 'deploy/compose.postgres.yaml'
const REPLICAS = `${POSTGRES}:deploy/compose.replicas.yaml`
const WAYS = [ONE, POSTGRES, REPLICAS]

const HTTPS = { COMPOSE_PROFILES: 'https', SITE_HOST: 'www.your-domain.example' }
const PASSWORDS = { POSTGRES_PASSWORD: 'owner1', APP_PASSWORD: 'app1', READONLY_PASSWORD: 'readonly1' }

/** What Compose makes of the files with these settings in `.env`, in a checkout that holds only what it may need. */
async function config(file: string, { options = '--env-file .env', ...settings }: Record<string, string> = {}) {
  const checkout = await aFolder('quvera-compose-')
  for (const path of [ONE, 'deploy', 'prisma/roles.sql']) cpSync(path, join(checkout, path), { recursive: true })
  const lines = Object.entries({ ...HTTPS, ...(file !== ONE && PASSWORDS), ...settings, COMPOSE_FILE: file }).map(
    ([name, value]) => `${name}=${value}\n`,
  )
  writeFileSync(join(checkout, '.env'), lines.join(''))
  const [program = '', ...args] = [...(compose ?? []), ...options.split(' ').filter(Boolean), 'config']
  const env = { PATH: process.env.PATH, HOME: checkout, PWD: checkout }
  return { checkout, text: execFileSync(program, args, { cwd: checkout, env, encoding: 'utf8', stdio: 'pipe' }) }
}

/** What each `docker compose` of the documents and of the compose files' own heads begins with. */
function optionsInDocuments(): string[] {
  const files = ['README.md', ONE, ...['docs', 'deploy'].flatMap((folder) => globSync(`${folder}/*.*`))]
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const uses = text.matchAll(/docker compose((?: -\S+ \S+)*) (?=up|run|stop|down|build|exec)/g)
  return [...new Set([...uses].map(([, words = '']) => words.trim()))]
}

/** Only with --env-file does every version of Compose find the settings of the other ways. */
const uses = optionsInDocuments().flatMap((options) =>
  WAYS.filter((file) => file === ONE || options.includes('--env-file')).map((file) => ({ options, file })),
)

it.skipIf(!compose).each(uses)('docker compose $options, $file: each file that it names is there', async (use) => {
  const { checkout, text } = await config(use.file, { options: use.options })
  const named = [...text.matchAll(/(?:^\s*-? ?|: )(\/[^:\s]+)(?=:|$)/gm)].map(([, path = '']) => path)
  const ours = named.filter((path) => path.startsWith(checkout))
  expect(ours).not.toEqual([])
  for (const path of ours) expect(existsSync(path), path).toBe(true)
})

it.skipIf(!compose).each(WAYS)('%s: the site believes Caddy, in any NETWORK, and makes its backups', async (file) => {
  const { text } = await config(file, { NETWORK: '192.0.2' })
  for (const setting of [
    'TRUST_PROXY: 192.0.2.10',
    'ipv4_address: 192.0.2.10',
    'enable_ipv6: true',
    'SITE_HOST: www.your-domain.example',
    'container_name: quvera',
    'BACKUP_DIR: /backup',
  ])
    expect(text).toContain(setting)
  expect(text).not.toContain('198.18')
  expect(text).toMatch(/^ {2}backup:/m)
})

it.skipIf(!compose)('Caddy leads to each of three replicas', async () => {
  const { text } = await config(REPLICAS)
  expect(text).toContain('SITES: 198.18.31.11:3000 198.18.31.12:3000 198.18.31.13:3000')
  expect(text.match(/BACKUP_DIR: \/backup/g)).toHaveLength(3)
})

it.skipIf(!compose)('one container has 512 MB, and with its Studio the database that .env names', async () => {
  const DATABASE_URL = 'postgresql://quvera_app:app1@db.your-domain.example:5432/quvera'
  const { text } = await config(ONE, { options: '--profile staff', DATABASE_URL })
  expect(text.match(/mem_limit: .*/)?.[0]).toMatch(/512m|536870912/)
  expect(text.split(`DATABASE_URL: ${DATABASE_URL}`)).toHaveLength(3)
})

it.skipIf(!compose).each(['data', 'restored'])('DATA_VOLUME=%s is what the site and Studio use', async (volume) => {
  const { text } = await config(ONE, { options: '--profile staff', DATA_VOLUME: volume })
  const mounts = [...text.matchAll(/(?:- |source: )(data|restored)\b/g)]
  expect(mounts.map(([, name]) => name)).toEqual([volume, volume])
})
