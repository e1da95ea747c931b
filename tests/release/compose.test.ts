// Each use of Docker Compose in the documents has a valid configuration, and every file that it names exists.
// Compose is needed for this test, a container engine is not.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

/** Either Compose checks a file without an engine: Debian's `docker-compose`, or the plugin. */
const compose = [['docker-compose'], ['docker', 'compose']].find(
  ([program = '', ...args]) => spawnSync(program, [...args, 'version']).status === 0,
)
if (!compose) console.warn('Neither docker-compose nor docker compose is here: the compose files were not tried.')

/** Which options each `docker compose` of the documents and of the compose files' own heads begins with. */
const texts = ['README.md', 'compose.yaml', ...['docs', 'deploy'].flatMap((folder) => globSync(`${folder}/*.*`))]
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')
const options = new Set(
  [...texts.matchAll(/docker compose((?: -\S+ \S+)*) (?=up|run|stop|down|build|exec)/g)].map(([, words = '']) =>
    words.trim(),
  ),
)
/** The ways that they set with COMPOSE_FILE. Only with --env-file does every Compose find the settings then. */
const files = new Set([...texts.matchAll(/COMPOSE_FILE=([\w./:-]+)/g)].map(([, file = '']) => file))
const used = [...options].flatMap((words): [options: string, file: string][] => [
  [words, 'compose.yaml'],
  ...(words.includes('--env-file .env') ? [...files].map((file): [string, string] => [words, file]) : []),
])

let settings = `COMPOSE_PROFILES=https
SITE_HOST=www.your-domain.example
PUBLIC_URL=https://www.your-domain.example
POSTGRES_PASSWORD=owner1
APP_PASSWORD=app1
READONLY_PASSWORD=readonly1
METRICS_PORT=9464
`

const checkout = mkdtempSync(join(tmpdir(), 'quvera-compose-'))
for (const path of ['compose.yaml', 'deploy', 'prisma/roles.sql'])
  cpSync(path, join(checkout, path), { recursive: true })
afterAll(() => rmSync(checkout, { recursive: true }))

function config(options: string, file = 'compose.yaml', env: Record<string, string> = {}): string {
  writeFileSync(join(checkout, '.env'), `${settings}COMPOSE_FILE=${file}\n`)
  const [program = '', ...args] = [...(compose ?? []), ...options.split(' ').filter(Boolean), 'config']
  return execFileSync(program, args, {
    cwd: checkout,
    env: { PATH: process.env.PATH, HOME: checkout, PWD: checkout, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

it('the documents name the ways with Studio, PostgreSQL and replicas', () => {
  expect([...options].sort()).toEqual(['', '--env-file .env', '--env-file .env --profile staff'])
  const postgres = 'deploy/compose.postgres.yaml'
  expect([...files].sort()).toEqual([postgres, `${postgres}:deploy/compose.replicas.yaml`])
})

it.skipIf(!compose).each(['compose.yaml', ...files])(
  '%s has Caddy at the address that the site believes, reached by IPv6 too, and volumes for backup and data',
  (file) => {
    const text = config('--env-file .env', file)
    for (const setting of [
      'TRUST_PROXY: 198.18.31.10',
      'ipv4_address: 198.18.31.10',
      'image: caddy',
      'container_name: quvera',
      'enable_ipv6: true',
      'SITE_HOST: www.your-domain.example',
      'BACKUP_DIR: /backup',
    ])
      expect(text).toContain(setting)
    expect(text).toMatch(/backup:\/backup|target: \/backup/)
    expect(text).toMatch(/^ {2}backup:/m)
    if (text.includes('postgres:18-')) expect(text).toMatch(/(db|target): ?\/var\/lib\/postgresql(:rw)?$/m)
    const other = config('--env-file .env', file, { NETWORK: '192.0.2' })
    expect(other).toContain('TRUST_PROXY: 192.0.2.10')
    expect(other).not.toContain('198.18')
  },
)

it.skipIf(!compose)('what a file says counts more than what it extends: memory, and the replicas behind Caddy', () => {
  expect(config('--env-file .env')).toMatch(/mem_limit: (512m|"?536870912"?)/)
  expect(config('--env-file .env')).not.toMatch(/mem_limit: (256m|"?268435456"?)/)
  const [, file = ''] = [...files].sort()
  const text = config('--env-file .env', file)
  expect(text).toContain('SITES: 198.18.31.11:3000 198.18.31.12:3000 198.18.31.13:3000')
  expect(text.split('BACKUP_DIR: /backup').length - 1).toBe(3)
})

it.skipIf(!compose)('a DATABASE_URL in .env is that of the one container, and of its Studio', () => {
  const url = 'postgresql://quvera_app:app1@db.your-domain.example:5432/quvera'
  writeFileSync(join(checkout, 'other.env'), `DATABASE_URL=${url}\n`)
  expect(config('--env-file other.env --profile staff').split(`DATABASE_URL: ${url}`).length).toBe(3)
})

it.skipIf(!compose).each(used)(
  'docker compose %s config with %s: all files that it names are there',
  (options, file) => {
    const text = config(options, file)
    const paths = [...text.matchAll(/(?:^\s*-? ?|: )(\/[^:\s]+)(?=:|$)/gm)].map(([, path = '']) => path)
    const ours = paths.filter((path) => path.startsWith(checkout))
    expect(ours.length).toBeGreaterThan(0)
    for (const path of ours) expect(existsSync(path), path).toBe(true)
  },
)

it.skipIf(!compose)(
  'DATA_VOLUME puts the site, and Studio, onto the restored volume; neither asks for a password of PostgreSQL',
  () => {
    settings = settings.replaceAll(/.*PASSWORD.*\n/g, '')
    const mounts = (text: string) =>
      [...text.matchAll(/(data|restored):\/data|source: (data|restored)/g)].map((m) => m[1] ?? m[2])
    expect(mounts(config('--profile staff'))).toEqual(['data', 'data'])
    const restored = config('--profile staff', 'compose.yaml', { DATA_VOLUME: 'restored' })
    expect(mounts(restored)).toEqual(['restored', 'restored'])
  },
)

it.skipIf(!existsSync('/usr/bin/caddy'))('Caddy does not start without the host name', () => {
  const { status, stderr } = spawnSync('caddy', ['adapt', '--config', 'deploy/Caddyfile', '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: checkout, SITE_HOST: '' },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringContaining('server block without any key')])
})
