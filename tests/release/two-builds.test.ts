// While replicas are updated, two builds of the site run beside each other.
// A visitor gets a page and its files from the same build, and the order reaches a server.
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startCaddy } from '../support/caddy.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { startServer } from '../support/server-process.ts'

const { setUp } = createFaultFixtures()

/** A copy of the built site whose stylesheet has another name. */
async function anotherBuild(): Promise<string> {
  const root = await aFolder('quvera-build-')
  await cp('dist', join(root, 'dist'), { recursive: true })
  for (const name of ['node_modules', 'prisma', 'package.json'])
    await symlink(join(process.cwd(), name), join(root, name))
  const client = join(root, 'dist/client')
  const assets = await readdir(join(client, 'assets'))
  const name = assets.find((each) => each.endsWith('.css')) ?? ''
  const files = (await readdir(client, { recursive: true })).filter((each) => /\.(html|js|css)$/.test(each))
  for (const file of files) {
    const content = await readFile(join(client, file), 'utf8')
    if (content.includes(name)) await writeFile(join(client, file), content.replaceAll(name, `another-${name}`))
  }
  for (const suffix of ['', '.br', '.gz'])
    if (assets.includes(name + suffix))
      await rename(join(client, 'assets', name + suffix), join(client, 'assets', `another-${name}${suffix}`))
  return root
}

/** Asks from an address of this machine, over a connection of its own. */
async function ask(url: string, localAddress: string, order?: object) {
  const sent = request(url, {
    agent: false,
    localAddress,
    family: 4,
    ...(order && { method: 'POST', headers: { 'content-type': 'application/json' } }),
  })
  sent.end(order && JSON.stringify(order))
  const answer = await new Promise<import('node:http').IncomingMessage>((done, fail) => {
    sent.once('response', done).once('error', fail)
  })
  return { status: answer.statusCode, body: await text(answer) }
}

it.skipIf(!existsSync('/usr/bin/caddy') || !existsSync('/usr/lib/postgresql'))(
  'two builds behind deploy/Caddyfile: each visitor gets page, stylesheet and reference',
  async () => {
    const { start, databaseUrl, inspect } = await setUp()
    const old = await start()
    const site = await startServer({ DATABASE_URL: databaseUrl, RATE_LIMIT_MAX: '0' }, { root: await anotherBuild() })
    atEnd(() => site.stop('SIGKILL'))
    const { url } = await startCaddy([old, site].map((each) => new URL(each.url).host))
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    const sheets = new Set<string>()
    for (let visitor = 1; visitor <= 20; visitor++) {
      const address = `127.0.0.${100 + visitor}`
      const page = await ask(url, address)
      const [sheet = ''] = /\/assets\/[^"]+\.css/.exec(page.body) ?? []
      sheets.add(sheet)
      expect(await ask(url + sheet, address)).toMatchObject({ status: 200 })
      expect(await ask(`${url}/trpc/order.submit`, address, anOrder())).toMatchObject({ status: 200 })
    }
    expect(sheets.size).toBe(2)
    expect(await inspect((db) => db.enquiry.count())).toBe(20)
  },
)
