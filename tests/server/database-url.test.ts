// A DATABASE_URL that does not work is refused in a sentence that says what to correct.
// Where the server allows few connections, orders wait for one of them.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { connectDatabase } from '../../server/database/connect.ts'
import { aClient } from '../support/a-client.ts'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { aDatabase, aServer } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { migrations } from '../support/test-database.ts'

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
  for (const command of ['export', 'migrate']) {
    const ran = await staff([command], withParameter(env, 'options', '-c search_path=shop'))
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The site uses the schema public, but the search_path of this login leads to shop. Set it: ALTER ROLE … SET search_path TO public.\n',
    })
  }
  const { rows } = await client.query(`SELECT FROM pg_class WHERE relnamespace = 'shop'::regnamespace`)
  expect(rows).toEqual([])
})

it('another schema in the URL is refused in a sentence, and public is taken', async () => {
  const env = await aDatabase()
  for (const name of ['DATABASE_URL', 'DIRECT_DATABASE_URL']) {
    const { DATABASE_URL } = withParameter(env, 'schema', 'shop')
    const { code, stderr } = await staff(['export'], { ...env, [name]: DATABASE_URL })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${name} must not name another schema than public`)])
  }
  expect(await staff(['export'], withParameter(env, 'schema', 'public'))).toMatchObject({ code: 0 })
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

it('where the server allows three connections, orders, repeated orders and forms wait for one of them', async () => {
  const env = await aDatabase()
  const client = await aClient(env)
  const role = `limited_${client.database}`
  await client.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 3 IN ROLE ${client.user}`)
  const { href } = Object.assign(new URL(env.DATABASE_URL), { username: role })
  const { url } = await aServer({ DATABASE_URL: href, RATE_LIMIT_MAX: '0' })
  const statuses: number[] = []
  for (let burst = 0; burst < 3; burst++)
    await Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        const { submissionKey, ...fields } = anOrder({ name: `Asha ${burst}.${number}` })
        const send = () => (number % 2 ? submit(url, { ...fields, submissionKey }) : postForm(url, fields))
        for (const { status } of await Promise.all([send(), send()])) statuses.push(status)
      }),
    )
  expect(statuses.toSorted()).toEqual([...Array(24).fill(200), ...Array(24).fill(303)])
})

/** A server that refuses every login, and speaks no TLS. */
async function aRefusingServer(code = '28P01', message = 'password authentication failed for user "quvera"') {
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

const noTls = 'no pg_hba.conf entry for host "10.0.0.9", user "quvera", database "quvera", no encryption'
const inPassword = 'In its password % is written %25, and # is written %23.'

it.each<[what: string, says: string, url: (port: number) => string, refusal?: [code: string, message: string]]>([
  [
    'a refused password',
    `password authentication failed for user "quvera". Check DATABASE_URL. ${inPassword}`,
    (port) => `postgresql://quvera:100%25@127.0.0.1:${port}/quvera`,
  ],
  ...['prefer', 'require'].map((mode): [string, string, (port: number) => string] => [
    `a server without TLS, where the URL says ${mode}`,
    'The server does not support SSL connections. Check DATABASE_URL. Without TLS it says sslmode=disable.',
    (port) => `postgresql://quvera:secret@127.0.0.1:${port}/quvera?sslmode=${mode}`,
  ]),
  [
    'a server that wants TLS',
    `${noTls}. Check DATABASE_URL. If the server wants TLS, it says sslmode=verify-full.`,
    (port) => `postgresql://quvera:secret@127.0.0.1:${port}/quvera`,
    ['28000', noTls],
  ],
  [
    'a certificate authority of its own',
    'self-signed certificate. Check DATABASE_URL. If the server has a certificate authority of its own, it says sslmode=verify-full&sslrootcert=/path/ca.pem.',
    (port) => `postgresql://quvera:secret@127.0.0.1:${port}/quvera`,
    ['XX000', 'self-signed certificate'],
  ],
  [
    'an escape that is no UTF-8',
    `URI malformed. Check DATABASE_URL. ${inPassword}`,
    () => 'postgresql://quvera:a%ffb@127.0.0.1:1/quvera',
  ],
])('%s is told with what to correct', async (_what, says, url, refusal) => {
  const warnings: unknown[] = []
  const listen = (warning: Error) => warnings.push(warning.message)
  process.on('warning', listen)
  atEnd(() => void process.off('warning', listen))
  const { stderr } = await staff(['export'], { DATABASE_URL: url(await aRefusingServer(...(refusal ?? []))) })
  expect(stderr).toBe(`The database cannot be reached: ${says}\n`)
  expect(warnings).toEqual([])
})

it.each(['pa#ss', '1#ss'])('a raw # in the password is refused with how it is written: %s', async (password) => {
  const { code, stderr } = await staff(['export'], {
    DATABASE_URL: `postgresql://quvera:${password}@127.0.0.1:1/quvera`,
  })
  expect([code, stderr]).toEqual([1, expect.stringContaining('with %25 for % and %23 for # in the password')])
})
