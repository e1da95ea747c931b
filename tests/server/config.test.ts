// `staff check` shows every variable and no secret, and a mail address that Resend would refuse ends the start.
import { expect, it } from 'vitest'
import { envSchema, readEnv } from '../../server/env.ts'
import { staff } from '../support/staff-command.ts'

it.each<[Record<string, string>, object]>([
  [{ PORT: ' 3001 ' }, { PORT: 3001 }],
  [{ PUBLIC_URL: 'https://www.x.example ' }, { PUBLIC_URL: 'https://www.x.example' }],
  [{ STAFF_EMAILS: 'asha@x.in, ASHA@x.in,ravi@x.in' }, { STAFF_EMAILS: ['asha@x.in', 'ravi@x.in'] }],
])('%j is read as %j', (variables, env) => expect(readEnv(variables)).toMatchObject(env))

it.each(['a..b@x.in', '.a@x.in', 'a@-x.in'])('an address that Resend would refuse ends the start: %s', (address) => {
  expect(() => readEnv({ STAFF_EMAILS: `good@x.in,${address}` })).toThrow('STAFF_EMAILS must be mail addresses')
})

it('`staff check` shows each variable in a line, and no secret', async () => {
  const secrets = {
    RESEND_API_KEY: 're_topsecret1',
    RESEND_WEBHOOK_SECRET: 'whsec_topsecret2',
    NOTIFY_URL: 'https://hooks.chat.example/topsecret3',
    NOTIFY_SECRET: `whsec_${Buffer.from('topsecret'.repeat(3)).toString('base64')}`,
    DATABASE_URL: 'postgresql://quvera_app:topsecret4@topsecret4@db.example:5432/quvera?sslmode=require',
    DIRECT_DATABASE_URL: 'postgresql://quvera_app@db.example/quvera?password=topsecret5&sslmode=require',
  }
  const { code, stdout, stderr } = await staff(['check'], { ...secrets, STAFF_EMAILS: ' a@x.in, b@x.in' })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be reached: [^\n]+\n$/),
  })
  expect(stderr).not.toContain('topsecret')
  const lines = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.replace(/ +/g, ' ')]))
  for (const name of Object.keys(envSchema.shape)) expect([...lines.keys()]).toContain(name)
  expect(stdout).not.toMatch(/topsecret|dG9wc2Vj/)
  expect(stdout).toContain('Warning: PUBLIC_URL is not set')
  expect(stdout).not.toContain('Warning: RESEND_WEBHOOK_SECRET')
  const keyed = await staff(['check'], { RESEND_API_KEY: secrets.RESEND_API_KEY })
  expect(keyed.stdout).toContain('Warning: RESEND_WEBHOOK_SECRET is not set: nobody sees when a mail bounces')
  expect(keyed.stdout).toContain('Warning: visitors answer to care@quvera.example, which is a stand-in')
  expect(lines.get('STAFF_EMAILS')).toBe('STAFF_EMAILS a@x.in,b@x.in')
  expect(lines.get('PORT')).toBe('PORT 3000 default')
  expect(lines.get('PUBLIC_URL')).toBe('PUBLIC_URL - default')
  expect(lines.get('RESEND_API_KEY')).toBe('RESEND_API_KEY set, hidden')
  expect(lines.get('NOTIFY_URL')).toBe('NOTIFY_URL https://hooks.chat.example/…')
  expect(lines.get('DATABASE_URL')).toBe(
    'DATABASE_URL postgresql://quvera_app:hidden@db.example:5432/quvera?sslmode=require',
  )
})
