/** `npm run studio`: Prisma Studio on the database of the site, also while the site runs on the embedded one. */
import { spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Database } from './database/database.ts'
import { pathIn, socketFolder } from './embedded/data-folder.ts'
import { type Env, readEnvOrExit } from './env.ts'
import { exitFor } from './errors.ts'
import { openDatabase, withDatabase } from './open-database.ts'
import { migrationsFolder } from './project-root.ts'
import { recordAccess } from './staff/access-log.ts'

const LOOPBACK = '127.0.0.1'
/** Studio refuses browsers that came by another port than its own. */
const STUDIO_PORT = 5555

const QUIET_MS = 3000

/**
 * What staff look at. Studio tells rows apart by their primary key, so of the view Quvera_Enquiries, which has none, it
 * shows one row a page. Status is the first of the columns kept in view because Studio draws the cell under the cursor as
 * far from its place as there is room in front of it.
 */
const VIEWS: [name: string, address: string][] = [
  ['The enquiries, newest first', enquiries('Status,ReceivedAt,Reference,Name')],
  ['Nobody has answered', enquiries('Status,Reference,Name,Mobile', ['Status', '=', 'New'])],
  ['Suspected spam', enquiries('Status,Reference,Name,Mobile', ['SuspectedSpam', '=', true])],
  ['With a note', enquiries('Status,Reference,Name,Mobile,Note', ['Note', 'is not', null])],
  ['Mails that were turned away', `${table('Quvera_Mail', 'Id')}${filter('Status', '=', 'Bounced')}`],
]

function table(name: string, sort: string) {
  return `#schema=public&table=${name}&view=table&sort=${sort}:desc`
}

function enquiries(pinned: string, where?: Parameters<typeof filter>) {
  return `${table('Quvera_Form', 'ReceivedAt')}&pin=${pinned}${where ? filter(...where) : ''}`
}

/** As Studio writes it into its address. */
function filter(column: string, operator: string, value: unknown) {
  const one = { kind: 'ColumnFilter', id: 'one', column, operator, value, after: 'and' }
  return `&filter=${encodeURIComponent(JSON.stringify({ kind: 'FilterGroup', id: 'all', after: 'and', filters: [one] }))}`
}

const env = readEnvOrExit(process.env)
const url = await reachDatabase(env).catch(exitFor)
// In a container, whose ports are published as its owner says. Studio listens on the loopback address only, so the
// others lead there. It has no login, so HOST, which is the site's, does not open it.
const isReachedFromOutside = env.STUDIO_IN_CONTAINER
if (isReachedFromOutside) {
  for (const address of addresses()) await forward(address, STUDIO_PORT, () => connect(STUDIO_PORT, LOOPBACK))
}
const port = isReachedFromOutside ? ['--port', String(STUDIO_PORT)] : []
// Through the environment and not as an argument, where every user of the machine could read the password.
const studio = spawn('prisma', ['studio', ...port, ...process.argv.slice(2)], {
  env: { ...process.env, DATABASE_URL: url, CHECKPOINT_DISABLE: '1', BROWSER: 'none' },
  stdio: ['inherit', 'pipe', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
process.once('exit', () => studio.kill())
studio.once('exit', (code) => process.exit(code ?? 1))
for await (const line of createInterface(studio.stdout)) {
  const [address] = /http:\/\/\S+/.exec(line) ?? []
  if (!address) console.log(line)
  else for (const [name, hash] of VIEWS) console.log(`${name}: ${address}/${hash}`)
}

/** Studio speaks TCP only: a port of its own that leads to the socket of the process that has the database, or of this one. */
async function reachDatabase({ DATABASE_URL: url, DATA_DIR: dataDir }: Env): Promise<string> {
  const reader = { command: 'studio', env: () => env, errors: process.stderr }
  await withDatabase(env, ({ db }) => recordAccess(reader, db, 'everything'))
  if (url) return url
  const open = () => openDatabase({ dataDir, migrations: migrationsFolder(), beside: true })
  const { port } = await forward(LOOPBACK, 0, borrow(open, pathIn(socketFolder(resolve(dataDir)), 'socket')))
  // A session of the embedded database forgets what was prepared in it.
  return `postgresql://postgres@${LOOPBACK}:${port}/postgres?sslmode=disable&prepare=false`
}

/** Where nobody has the database this process does, until Studio asks nothing for a moment: then the site may start. */
function borrow(open: () => Promise<Database>, socket: string): () => Promise<Socket> {
  let opened: Promise<Database> | undefined
  let closed: Promise<void> | undefined
  const giveBack = setTimeout(() => {
    closed = opened?.then(({ close }) => close())
    opened = undefined
  }, QUIET_MS)
  return async () => {
    await closed
    if (!opened && !(await isServed(socket))) opened ??= open()
    await opened
    giveBack.refresh()
    return connect(socket).on('data', () => giveBack.refresh())
  }
}

/** Whether a process listens at the socket. */
function isServed(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const client = connect(socket)
    client.once('connect', () => done(true)).once('error', () => done(false))
    client.once('connect', () => client.destroy())
  })
}

/** Where this machine, or container, is reached from elsewhere. */
function addresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  )
}

async function forward(host: string, port: number, open: () => Socket | Promise<Socket>): Promise<AddressInfo> {
  const server = createServer(async (client) => {
    client.on('error', () => client.destroy())
    const target = await Promise.resolve(open()).catch(exitFor)
    target.on('error', () => client.destroy())
    client.on('close', () => target.destroy())
    client.pipe(target).pipe(client)
  })
  await new Promise<void>((done) => server.listen(port, host, done))
  return server.address() as AddressInfo
}
