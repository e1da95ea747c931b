import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const files = [
  'compose.yaml',
  ...readdirSync('deploy')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `deploy/${name}`),
].filter((file) => readFileSync(file, 'utf8').includes(' image: ')) // others only add to a container
const read = (file: string) => readFileSync(file, 'utf8')
/** What a service takes from that of another file. */
function extended(text: string): string | undefined {
  const [, file = '', service = ''] = /extends: \{ file: (?:deploy\/)?(\S+), service: (\S+) \}/.exec(text) ?? []
  return file && new Map(servicesOf(`deploy/${file}`)).get(service)
}

/** The text of each service, by its name; one that merges another's holds that too. */
function servicesOf(file: string): [string, string][] {
  const text = read(file)
  const shared = /^x-site: &site\n((?: .*\n)+)/m.exec(text)?.[1] ?? ''
  const [, services = ''] = text.split(/^services:\n/m)
  const [ours = ''] = services.split(/^\S/m)
  return ours
    .split(/^ {2}(?=[\w-]+:\n)/m)
    .slice(1)
    .map((service) => [service.split(':')[0] ?? '', service.replace('<<: *site', () => shared)])
    .map(([name = '', service = '']) => [name, service + (extended(service) ?? '')])
}

it.each(files)('%s: every container runs without capabilities it does not need, and cannot get new ones', (file) => {
  // compose.https.yaml adds to the site of compose.yaml.
  const services = servicesOf(file).filter(([name]) => !(file.endsWith('https.yaml') && name === 'site'))
  expect(services.length).toBeGreaterThan(0)
  for (const [name, text] of services) {
    expect(text, name).toContain('cap_drop: [ALL]')
    expect(text, name).toContain('no-new-privileges:true')
  }
})

it.each(files)('%s: no port of Studio is published, and no password is an argument', (file) => {
  for (const [name, text] of servicesOf(file)) {
    if (name === 'studio') expect(text).not.toContain('ports:')
    expect(/ {4}command:.*\n(?: {6}.*\n)*/.exec(text)?.[0] ?? '', name).not.toMatch(/PASSWORD/)
  }
})

it('nginx of the replicas is the service and the port that older versions know, as its container outlives an update', () => {
  const proxy = new Map(servicesOf('deploy/compose.replicas.yaml')).get('proxy')
  expect(proxy).toContain('ports: ["127.0.0.1:3000:80"]')
  expect(new Set(read('deploy/nginx.conf').match(/\blisten [^\s;]+/g))).toEqual(new Set(['listen 80']))
  expect(read('deploy/compose.replicas-https.yaml')).toContain('SITE: proxy:80')
})

it('nothing stands behind a value that is pasted into .env: docker run --env-file takes it for a part of it', () => {
  const pasted = ['docs/operations.md', 'docs/make-it-yours.md', 'README.md', '.env.example'].flatMap(
    (file) => read(file).match(/^[A-Z_]+=\S.*$/gm) ?? [],
  )
  expect(pasted.filter((line) => line.startsWith('NOTIFY_URL=')).length).toBeGreaterThan(3)
  expect(pasted.filter((line) => line.includes(' #'))).toEqual([])
})

it('the documents give psql and pg_dump no password as an argument', () => {
  expect(read('docs/operations.md')).not.toMatch(/^(psql|pg_dump|pg_restore|createdb) .*(_URL|:\/\/)/m)
})
