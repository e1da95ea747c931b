import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

/** Either Compose checks a file without an engine: Debian's `docker-compose`, or the plugin. */
const compose = [['docker-compose'], ['docker', 'compose']].find(
  ([program = '', ...args]) => spawnSync(program, [...args, 'version']).status === 0,
)
if (!compose) console.warn('Neither docker-compose nor docker compose is here: the compose files were not tried.')

/** Which files and options each `docker compose` of the documents and of the compose files' own heads begins with. */
const texts = [
  'README.md',
  'compose.yaml',
  ...['docs', 'deploy'].flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)),
]
const used = new Set(
  texts.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /docker compose((?: (?:-f|--env-file|--profile) \S+)*) (?=up|run|stop|down|build)/g,
      ),
    ].map(([, options = '']) => options.trim()),
  ),
)

/** As "A server from nothing" and "Watching" say. */
const [FILES = ''] = /^COMPOSE_FILE=.*$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
const WITH_METRICS = /COMPOSE_FILE=(.*metrics.*)$/m.exec(readFileSync('deploy/compose.metrics.yaml', 'utf8'))?.[1] ?? ''
const MOVED = 'deploy/compose.postgres.yaml:deploy/compose.https.yaml'
const SETTINGS = `${FILES}
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
writeFileSync(join(checkout, '.env'), SETTINGS)
afterAll(() => rmSync(checkout, { recursive: true }))

function config(options: string, env: Record<string, string> = {}): string {
  const [program = '', ...args] = [...(compose ?? []), ...options.split(' ').filter(Boolean), 'config']
  return execFileSync(program, args, {
    cwd: checkout,
    env: { PATH: process.env.PATH, HOME: checkout, PWD: checkout, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

it('the documents name the ways with TLS, metrics and PostgreSQL', () => {
  expect([...used]).toEqual(
    expect.arrayContaining(['', '--profile staff', '-f deploy/compose.postgres.yaml --env-file .env']),
  )
  expect([...used]).toContain('-f deploy/compose.replicas.yaml -f deploy/compose.replicas-https.yaml --env-file .env')
})

it.skipIf(!compose)('Studio, metrics, an update and the move to PostgreSQL leave the site behind Caddy', () => {
  // A file that a command names has only the others that it names too.
  expect([...used].filter((options) => options.includes('-f compose.yaml'))).toEqual([])
  const own = [...used].filter((options) => !options.includes('-f '))
  expect(own.length).toBeGreaterThan(1)
  for (const text of [
    ...own.map((options) => config(options)),
    config('', { COMPOSE_FILE: WITH_METRICS }),
    config('--env-file .env', { COMPOSE_FILE: MOVED }),
  ]) {
    expect(text).toContain('TRUST_PROXY: 172.31.0.10')
    expect(text).toMatch(/ edge:/)
    expect(text).toContain('image: caddy')
  }
  expect(config('', { COMPOSE_FILE: WITH_METRICS })).toContain('9464')
})

it('the lines of "Update" and of the move to PostgreSQL put the files into .env, once', () => {
  const document = readFileSync('docs/operations.md', 'utf8')
  const lineOf = (program: string) => new RegExp(`^${program} .*COMPOSE_FILE.*$`, 'm').exec(document)?.[0] ?? ''
  function after(line: string, before: string) {
    const file = join(checkout, 'before.env')
    writeFileSync(file, before)
    for (const _ of [1, 2]) spawnSync('sh', ['-c', line.replaceAll(' .env', ` ${file}`)])
    return readFileSync(file, 'utf8')
  }
  expect(after(lineOf('grep'), 'RESEND_API_KEY=a\nSITE_HOST=b')).toBe(`RESEND_API_KEY=a\n${FILES}\nSITE_HOST=b`)
  expect(after(lineOf('grep'), 'RESEND_API_KEY=a\n')).toBe('RESEND_API_KEY=a\n') // without TLS
  expect(after(lineOf('sed'), FILES)).toBe(`COMPOSE_FILE=${MOVED}`)
})

it.skipIf(!compose).each([...used])('docker compose %s config: all files that it names are there', (options) => {
  const text = config(options)
  const paths = [...text.matchAll(/(?:^\s*-? ?|: )(\/[^:\s]+)(?=:|$)/gm)].map(([, path = '']) => path)
  const ours = paths.filter((path) => path.startsWith(checkout))
  expect(ours.length).toBeGreaterThan(0)
  for (const path of ours) expect(existsSync(path), path).toBe(true)
  if (options.includes('https')) {
    expect(text).toContain('SITE_HOST: www.your-domain.example')
    expect(text).toContain('SITE: proxy:80')
    expect(ours).toContain(`${checkout}/deploy/Caddyfile`)
  }
})

it.skipIf(!compose)('DATA_VOLUME puts the site, and Studio, onto the restored volume', () => {
  const mounts = (text: string) =>
    [...text.matchAll(/(data|restored):\/data|source: (data|restored)/g)].map((m) => m[1] ?? m[2])
  expect(mounts(config('--profile staff'))).toEqual(['data', 'data'])
  expect(mounts(config('--profile staff', { DATA_VOLUME: 'restored' }))).toEqual(['restored', 'restored'])
})

it.skipIf(!compose)('one container asks for no password of PostgreSQL', () => {
  writeFileSync(join(checkout, '.env'), SETTINGS.replaceAll(/.*PASSWORD.*\n/g, ''))
  expect(config('--profile staff')).toContain('container_name: quvera')
})

it.skipIf(!compose)('nobody starts with TLS and without its host name', () => {
  writeFileSync(join(checkout, '.env'), SETTINGS.replace(/SITE_HOST.*\n/, ''))
  expect(() => config('')).toThrow(/the host name that leads to this machine/)
})
