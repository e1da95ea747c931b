// .env.example names every variable and sets nothing but the defaults. A wrong value is refused in a sentence, without it.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { envSchema, readEnv } from '../../server/env.ts'
import { warningsOf } from '../../server/env-warnings.ts'
import { OperatorError } from '../../server/errors.ts'

const project = resolve(import.meta.dirname, '../..')

const example = parseEnv(await readFile(resolve(project, '.env.example'), 'utf8'))

it('.env.example names every variable and sets nothing but the defaults', () => {
  expect(Object.keys(example).sort()).toEqual(Object.keys(envSchema.shape).sort())
  expect(readEnv(example)).toEqual(readEnv({}))
})

it.each<[Record<string, string>, object]>([
  [{ PORT: ' 3001 ' }, { PORT: 3001 }],
  [{ PUBLIC_URL: 'https://www.x.example ' }, { PUBLIC_URL: 'https://www.x.example' }],
  [{ STAFF_EMAILS: 'asha@x.in, ASHA@x.in,ravi@x.in' }, { STAFF_EMAILS: ['asha@x.in', 'ravi@x.in'] }],
  [{ DATABASE_URL: 'postgresql://a@b/c?schema=public' }, { DATABASE_URL: 'postgresql://a@b/c?schema=public' }],
  [{ STAFF_EMAILS: 'a@b.in,c@d.in', MAIL_DAILY_BUDGET: '8' }, { MAIL_DAILY_BUDGET: 8 }],
  [{ STAFF_EMAILS: 'a@b.in,c@d.in', MAIL_DAILY_BUDGET: '0' }, { MAIL_DAILY_BUDGET: 0 }],
])('%j is read as %j', (variables, env) => expect(readEnv(variables)).toMatchObject(env))

const ORIGIN = 'PUBLIC_URL must begin with https:// or http:// and end with the host, such as https://www.example.com'
const RANGE = 'none wider than /8 (IPv6: /7), which would trust strangers'
const TARGET = 'NOTIFY_URL must begin with https://'

describe('what is wrong is said in a sentence that does not quote the value', () => {
  it.each<[Record<string, string>, sentence: string]>([
    [{ PUBLIC_URL: 'www.s3cret.example' }, ORIGIN],
    [{ PUBLIC_URL: 'https://s3cret.example/shop' }, ORIGIN],
    [{ PUBLIC_URL: 'ftp://s3cret.example' }, ORIGIN],
    [{ TRUST_PROXY: '0.0.0.0/1,128.0.0.0/1' }, RANGE],
    [{ TRUST_PROXY: '10.0.0.1,::/0' }, RANGE],
    [{ TRUST_PROXY: '::ffff:0:0/96' }, RANGE],
    [{ TRUST_PROXY: '::/8' }, RANGE],
    [{ RESEND_API_KEY: 're_s3cret\u200b' }, 'RESEND_API_KEY must be the key that Resend shows'],
    [{ STAFF_EMAILS: 'good@x.in,s3cret..b@x.in' }, 'STAFF_EMAILS must be mail addresses'],
    [{ STAFF_EMAILS: 'a@b.in,c@d.in', MAIL_DAILY_BUDGET: '7' }, 'raise it to 8, or set 0'],
    [{ PORT: '3999', METRICS_PORT: '3999' }, 'METRICS_PORT is PORT: choose another one.'],
    [
      { DIRECT_DATABASE_URL: 'postgresql://a:s3cret@b/c', PORT: '3999', METRICS_PORT: '3999' },
      'METRICS_PORT is PORT: choose another one.\nDIRECT_DATABASE_URL is set without DATABASE_URL: set that too.',
    ],
    [{ DATABASE_URL: 'postgresql://a:1#s3cret@b/c' }, 'with %25 for % and %23 for # in the password'],
    [
      { DATABASE_URL: 'postgresql://a:s3cret@b/c?schema=shop' },
      'DATABASE_URL must not name another schema than public',
    ],
    [{ DIRECT_DATABASE_URL: 'postgresql://a@b/c?schema=s3cret' }, 'DIRECT_DATABASE_URL must not name another schema'],
    [{ NOTIFY_URL: 'http://hooks.example/s3cret' }, TARGET],
    [{ NOTIFY_URL: 'https://me:s3cret@hooks.example' }, TARGET],
    [{ NOTIFY_FORMAT: 'xml' }, 'NOTIFY_FORMAT must be text or json'],
    [{ NOTIFY_SECRET: 'whsec_s3cret' }, 'NOTIFY_SECRET must be whsec_ and 24 to 64 bytes'],
    [{ NOTIFY_URL: 'https://hooks.example/s3cret', NOTIFY_FORMAT: 'json' }, 'set NOTIFY_SECRET too'],
  ])('%j', (variables, sentence) => {
    expect(() => readEnv(variables)).toThrow(OperatorError) // which the programs tell without a stack
    expect(() => readEnv(variables)).toThrow(sentence)
    expect(() => readEnv(variables)).not.toThrow('s3cret')
  })
})

it('a variable that begins as ours do, or is one slip from ours, is named, even if it is empty', () => {
  const told = warningsOf(
    readEnv({
      MAIL_FORM: '',
      STAFF_EMAIL: 'a@b.in',
      BAKUP_DIR: 'b',
      LOGLEVEL: 'info',
      MAIL_SENDER: 'c',
      MAIL_FROM: 'a@b.in',
      DATA_VOLUME: 'x',
      PATH: '/',
    }),
  )
  expect(told.filter((warning) => warning.includes('no variable'))).toEqual([
    'MAIL_FORM is no variable of the site: is MAIL_FROM meant?',
    'STAFF_EMAIL is no variable of the site: is STAFF_EMAILS meant?',
    'BAKUP_DIR is no variable of the site: is BACKUP_DIR meant?',
    'LOGLEVEL is no variable of the site: is LOG_LEVEL meant?',
    'MAIL_SENDER is no variable of the site: .env.example lists them',
  ])
})

it('every problem is named, each in a line', () => {
  const wrong = { PORT: 'http', DATABASE_URL: 'mysql://x', STAFF_EMAILS: 'a@b.co,nobody', TRUST_PROXY: '1' }
  expect(() => readEnv(wrong)).toThrow(/^[^\n]*problems:\nPORT .*\nDATABASE_URL .*\nSTAFF_EMAILS .*\nTRUST_PROXY .*$/)
})
