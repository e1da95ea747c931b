// Behind deploy/Caddyfile or deploy/nginx-host.conf the site takes orders, knows who asks, and no log has a secret.
// Not in `npm test`: it needs both proxies.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messages } from '../../shared/order.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startCaddy } from '../support/caddy.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, aServer } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { onDatabase } from '../support/stored-enquiry.ts'

const WWW = 'www.your-domain.example'
/** A site behind a proxy, at which a visitor may send one order a minute. */
const LIMITED = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_MAX: '1' }

describe.skipIf(!existsSync('/usr/bin/caddy'))('deploy/Caddyfile', () => {
  async function behindCaddy(env: Record<string, string>) {
    const site = await aServer({ LOG_LEVEL: 'warn', ...env })
    const { url } = await startCaddy([new URL(site.url).host])
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    return { site, url }
  }

  it('logs nothing of a request that fails, with a subscriber’s secret in it', async () => {
    const { url, end } = await startCaddy(['127.0.0.1:9'])
    const ask = () => fetch(`${url}/subscription?token=SECRET`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    await eventually(async () => expect((await ask()).status).toBeGreaterThanOrEqual(502))
    expect(await end()).not.toMatch(/SECRET|subscription|remote_ip/)
  })

  it('tells the site who asks, whatever a visitor claims', async () => {
    const { url } = await behindCaddy({ ...(await aDatabase()), ...LIMITED })
    const order = (address: string) => submit(url, anOrder(), { 'x-forwarded-for': address })
    expect((await order('203.0.113.1')).status).toBe(200)
    expect((await order('203.0.113.2')).status).toBe(429)
  })

  it('leads to a site whose database fails: pages are served, and an order is answered in words', async () => {
    const env = await aDatabase()
    const { site, url } = await behindCaddy({ ...env, LOG_LEVEL: 'debug' })
    const checks = () => site.stdout().split('/healthz').length
    await onDatabase(env, (db) => db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`)
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(503))
    const before = checks()
    await eventually(() => expect(checks()).toBeGreaterThan(before + 1)) // Caddy has looked twice
    expect(await submit(url, anOrder())).toMatchObject({ status: 503, message: messages.failed })
    expect((await fetch(`${url}/`)).status).toBe(200)
  })
})

describe.skipIf(!existsSync('/usr/sbin/nginx'))('deploy/nginx-host.conf', () => {
  /** Debian's nginx with that file, which is changed for these ports and this site only. */
  async function startNginx(site: string, plain: number, tls: number) {
    const folder = await aFolder('quvera-nginx-')
    await chmod(folder, 0o755) // nginx's workers are another user
    const made = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${WWW} -keyout privkey.pem -out fullchain.pem`
    expect(spawnSync('openssl', made.split(' '), { cwd: folder }).status).toBe(0)
    await mkdir(join(folder, '.well-known/acme-challenge'), { recursive: true })
    await writeFile(join(folder, '.well-known/acme-challenge/token'), 'proof')
    const servers = readFileSync('deploy/nginx-host.conf', 'utf8')
      .replaceAll(/listen ((?:\[::\]:)?)(80|443)/g, (_, ipv6, port) => {
        return `listen ${ipv6 ? '[::1]' : '127.0.0.1'}:${port === '80' ? plain : tls}`
      })
      .replaceAll('/var/www/html', folder)
      .replaceAll(`/etc/letsencrypt/live/${WWW}`, folder)
      .replaceAll('/var/log/nginx/error.log', 'stderr')
      .replaceAll('http://127.0.0.1:3000', site)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`)
    const config = join(folder, 'nginx.conf')
    await writeFile(
      config,
      `daemon off; pid ${folder}/pid; error_log stderr; events {} http { ${temporary.join(' ')}\n${servers} }`,
    )
    const nginx = spawn('nginx', ['-c', config, '-e', 'stderr'], { stdio: 'ignore' })
    const ended = new Promise((done) => nginx.once('exit', done))
    atEnd(() => {
      nginx.kill()
      return ended
    })
  }

  it('ends TLS, leads all to one address, and tells the site who asks', async () => {
    const site = await aServer({ ...(await aDatabase()), PUBLIC_URL: `https://${WWW}`, ...LIMITED })
    const [plain, tls] = [await freePort(), await freePort()]
    await startNginx(site.url, plain, tls)

    /** Over TLS, from another address of this machine than the proxy's. */
    function ask(host: string, path: string, body?: string, headers: Record<string, string> = {}) {
      return new Promise<{ status: number | undefined; location: string | undefined }>((done, fail) => {
        const from = { host: '127.0.0.1', port: tls, localAddress: '127.0.0.2', servername: host }
        const method = body ? 'POST' : 'GET'
        const options = { ...from, path, method, rejectUnauthorized: false, headers: { host, ...headers } }
        const sent = request(options, (answer) => {
          answer.resume()
          answer.on('end', () => done({ status: answer.statusCode, location: answer.headers.location }))
        })
        sent.on('error', fail)
        sent.end(body)
      })
    }
    await eventually(async () => (await ask(WWW, '/readyz')).status === 200)
    const page = `https://${WWW}/buy-now?a=b`
    expect(await ask('your-domain.example', '/buy-now?a=b')).toEqual({ status: 301, location: page })
    const insecure = await fetch(`http://127.0.0.1:${plain}/buy-now?a=b`, { redirect: 'manual' })
    expect([insecure.status, insecure.headers.get('location')]).toEqual([301, page])
    const renewal = await fetch(`http://127.0.0.1:${plain}/.well-known/acme-challenge/token`)
    expect([renewal.status, await renewal.text()]).toEqual([200, 'proof'])

    const order = (address: string) =>
      ask(WWW, '/trpc/order.submit', JSON.stringify(anOrder()), {
        'content-type': 'application/json',
        origin: `https://${WWW}`,
        'x-forwarded-for': address,
      })
    expect((await order('203.0.113.1')).status).toBe(200)
    expect((await order('203.0.113.2')).status).toBe(429) // whoever makes up an address is the same visitor
  })
})
