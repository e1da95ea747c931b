// Each compose file passes on the settings as docs/configuration.md says, and drops all capabilities by default.
// No password stands in an argument of a command.
import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { envSchema } from '../server/env.ts'
import { SERVER_ENV_FILE, staffCommand } from '../server/staff-command.ts'

const files = ['compose.yaml', 'deploy/compose.postgres.yaml', 'deploy/compose.replicas.yaml']
const read = (file: string) => readFileSync(file, 'utf8')

/** The text of each service, by its name, with that of the service that it extends, merges or adds to. */
function servicesOf(file: string): [string, string][] {
  const [, services = ''] = read(file).split(/^services:\n/m)
  const [ours = ''] = services.split(/^\S/m)
  const texts = ours.split(/^ {2}(?=[\w-]+:)/m).slice(1)
  const merged = texts.find((text) => text.includes(': &replica\n')) ?? ''
  return texts.map((text) => {
    const whole = text.replace('<<: *replica', merged)
    const [name = ''] = text.split(':')
    const [, extended] = /extends: \{ file: \S+, service: (\w+) \}/.exec(whole) ?? []
    if (extended) return [name, whole + textOf('deploy/services.yaml', extended)]
    return [name, whole.includes('image:') ? whole : whole + textOf('deploy/compose.postgres.yaml', name)]
  })
}

const textOf = (file: string, name: string) => servicesOf(file).find(([each]) => each === name)?.[1] ?? ''

it('every setting of the site in .env but those that docs/configuration.md names reaches it in all three, and nothing else', () => {
  const [, sets = '', omits = ''] =
    /he image sets (.*) Their values in `.env` do not count\. Nor do (.*?)\./.exec(read('docs/configuration.md')) ?? []
  const kept: string[] = `${sets} ${omits}`.match(/[A-Z_]+/g) ?? []
  const expected = Object.keys(envSchema.shape).filter((name) => !kept.includes(name))
  for (const file of files) {
    const [, site = ''] = servicesOf(file).find(([name]) => name.startsWith('site')) ?? []
    const passed = [...site.matchAll(/^ +([A-Z_]+): \S/gm)].map(([, name]) => name)
    const ofDatabase = (name?: string) => name?.endsWith('DATABASE_URL')
    const isFixed = (name = '') => sets.includes(`\`${name}\``) // such as BACKUP_DIR, whose volume is there
    expect(passed.filter((name) => !ofDatabase(name) && !isFixed(name)).sort(), file).toEqual(
      expected.filter((name) => !ofDatabase(name)).sort(),
    )
  }
  expect(read('compose.yaml')).toMatch(/ {6}DATABASE_URL: \$\{DATABASE_URL:-\}/)
})

it.each(files)('%s: every container runs without capabilities it does not need, and cannot get new ones', (file) => {
  const services = servicesOf(file)
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

it('neither the site nor its PostgreSQL leaves a core dump, which would hold enquiries and keys', () => {
  expect(read('deploy/quvera.service')).toMatch(/^LimitCORE=0$/m)
})

it('under SELinux, too, a container may read each file that is mounted into it', () => {
  const mounted = ['deploy/services.yaml', ...files].flatMap((file) => read(file).match(/"\.\.?\/[^":]*:[^"]*"/g) ?? [])
  expect(mounted.length).toBeGreaterThan(3)
  for (const mount of mounted) expect(mount).toMatch(/:ro,z"$/)
})

it('PostgreSQL keeps its files in the volume, at a path that does not depend on its version', () => {
  const text = textOf('deploy/compose.postgres.yaml', 'db')
  const [, volume = ''] = /"db:([^"]+)"/.exec(text) ?? []
  expect(/PGDATA: (\S+)/.exec(text)?.[1]).toMatch(new RegExp(`^${volume}/.`))
})

it('without a container the site names staff commands by the program that reads its settings', () => {
  for (const file of ['deploy/quvera-staff', 'deploy/quvera.service'])
    expect(read(file)).toContain(`ENV_FILE=${SERVER_ENV_FILE}`)
  expect(staffCommand('mails')).toBe('npm run -s staff -- mails')
  vi.stubEnv('ENV_FILE', SERVER_ENV_FILE)
  expect(staffCommand('mails')).toBe('quvera-staff mails')
  vi.unstubAllEnvs()
})
