// A DATABASE_URL that does not work is refused in a sentence that says what to correct.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { connectDatabase } from '../../../server/database/pool.ts'
import { aClient } from '../../support/a-client.ts'
import { atEnd } from '../../support/at-end.ts'
import { aDatabase } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { migrations } from '../../support/test-database.ts'

const SSL_REQUEST = 80_877_103

const withParameter = (env: Record<string, string>, name: string, value: string) => {
  const url = new URL(env.DATABASE_URL ?? '')
  url.searchParams.set(name, value)
  return { DATABASE_URL: url.href }
}

it('a login whose search_path leads to another schema is refused in a sentence, and nothing is made there', async () => {
  const env = await aDatabase()
  const client = await aClient(env)
  await client.query('CREATE SCHEMA shop')
  expect(await staff(['migrate'], withParameter(env, 'options', '-c search_path=shop'))).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'The site uses the schema public, but the search_path of this login leads to shop. Set it: ALTER ROLE … SET search_path TO public.\n',
  })
  const { rows } = await client.query(`SELECT FROM pg_class WHERE relnamespace = 'shop'::regnamespace`)
  expect(rows).toEqual([])
})

it('connection_limit in the URL is the size of the pool', async () => {
  const { DATABASE_URL } = withParameter(await aDatabase(), 'connection_limit', '2')
  const { db, close } = await connectDatabase({ connectionString: DATABASE_URL }, { migrations })
  await Promise.all(Array.from({ length: 20 }, () => db.$queryRaw`SELECT pg_sleep(0.02)::text`))
  const [{ open }] = await db.$queryRaw<[{ open: number }]>`
    SELECT count(*)::int AS "open" FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'quvera'`
  await close()
  expect(open).toBe(2)
})

/** A server that refuses every login, and speaks no TLS. */
async function aRefusingServer(code: string, message: string) {
  const server = createServer((socket) =>
    socket.on('data', (data) => {
      if (data.readInt32BE(4) === SSL_REQUEST) return socket.write('N')
      const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
      const length = Buffer.alloc(4)
      length.writeInt32BE(fields.length + 4)
      socket.end(Buffer.concat([Buffer.from('E'), length, fields]))
    }),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(() => void server.close())
  return (server.address() as AddressInfo).port
}

const wrong = 'password authentication failed for user "quvera"'
const noTls = 'no pg_hba.conf entry for host "10.0.0.9", user "quvera", database "quvera", no encryption'
const inPassword = 'In its password % is written %25, and # is written %23.'

const HERE = 'postgresql://quvera:100%25@127.0.0.1:PORT/quvera'

it.each<[what: string, says: string, url: string, refusal: [code: string, message: string]]>([
  ['a refused password', `${wrong}. Check DATABASE_URL. ${inPassword}`, HERE, ['28P01', wrong]],
  [
    'a server without TLS',
    'The server does not support SSL connections. Check DATABASE_URL. Without TLS it says sslmode=disable.',
    `${HERE}?sslmode=require`,
    ['28P01', wrong],
  ],
  [
    'a server that wants TLS',
    `${noTls}. Check DATABASE_URL. If the server wants TLS, it says sslmode=verify-full.`,
    HERE,
    ['28000', noTls],
  ],
])('%s is told with what to correct', async (_what, says, url, refusal) => {
  const port = await aRefusingServer(...refusal)
  const { stderr } = await staff(['export'], { DATABASE_URL: url.replace('PORT', String(port)) })
  expect(stderr).toBe(`The database cannot be reached: ${says}\n`)
})
