// `staff check` shows every variable and what is wrong, and no secret.
import { expect, it } from 'vitest'
import { envSchema } from '../../server/env.ts'
import { staff } from '../support/staff-command.ts'

it('`staff check` shows each variable in a line, and no secret', async () => {
  const secrets = {
    RESEND_API_KEY: 're_topsecret1',
    RESEND_WEBHOOK_SECRET: 'whsec_topsecret2',
    NOTIFY_URL: 'https://hooks.chat.example/topsecret3',
    NOTIFY_SECRET: `whsec_${Buffer.from('topsecret'.repeat(3)).toString('base64')}`,
    DATABASE_URL: 'postgresql://quvera_app:topsecret4@topsecret4@db.example:5432/quvera?sslmode=require',
    DIRECT_DATABASE_URL: 'postgresql://quvera_app@db.example/quvera?password=topsecret5&sslmode=require',
  }
  const env = { ...secrets, STAFF_EMAILS: ' a@x.in, b@x.in', NOTIFY_FORMAT: 'json' }
  const { code, stdout, stderr } = await staff(['check'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be reached: [^\n]+\n$/),
  })
  expect(stderr).not.toContain('topsecret')
  const lines = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.replace(/ +/g, ' ')]))
  for (const name of Object.keys(envSchema.shape)) expect([...lines.keys()]).toContain(name)
  expect(stdout).not.toMatch(/topsecret|dG9wc2Vj/)
  expect(stdout).toContain('Warning: PUBLIC_URL is not set')
  expect(stdout).toContain(
    'Warning: NOTIFY_FORMAT is json: name, address and number of each visitor go to https://hooks.chat.example,',
  )
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
