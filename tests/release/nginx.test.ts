// Behind the documented nginx or Caddy the site takes orders and knows who asks, and Caddy logs no subscriber’s secret.
// The test needs both proxies.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { messages } from '../../shared/order.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startCaddy } from '../support/caddy.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, aServer } from '../support/fixtures.ts'
import { scratch } from '../support/scratch.ts'
import { freePort } from '../support/server-process.ts'
import { onDatabase } from '../support/stored-enquiry.ts'

/** Of deploy/Caddyfile. */
const HEALTH_INTERVAL_MS = 500

const WWW = 'www.your-domain.example'
async function aSite(env: Record<string, string>) {
  const site = await aServer({ ...(await aDatabase()), LOG_LEVEL: 'warn', ...env })
  return site
}

/** Debian's nginx with these servers. */
async function startNginx(servers: string, folder?: string) {
  const own = folder ?? (await mkdtemp(join(scratch, 'quvera-nginx-')))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${own}/${name};`)
  const config = `daemon off; pid ${own}/pid; error_log stderr; events {}
    http { access_log off; ${paths.join(' ')}\n${servers} }`
  await writeFile(join(own, 'nginx.conf'), config)
  const nginx = spawn('nginx', ['-c', join(own, 'nginx.conf'), '-e', 'stderr'], { stdio: 'ignore' })
  const ended = new Promise((done) => nginx.once('exit', done))
  atEnd(async () => {
    nginx.kill()
    await ended
    await rm(own, { recursive: true, force: true })
  })
}

const ORIGIN = `http://${WWW}`
/** What a browser says of the page that sends an order. */
const fromPage = (origin: string) => ({ origin, 'sec-fetch-site': 'same-origin' })

describe.skipIf(!existsSync('/usr/sbin/nginx'))('behind a plain nginx', () => {
  async function behind(env: Record<string, string>, more = '') {
    const site = await aSite(env)
    const port = await freePort()
    await startNginx(`server { listen 127.0.0.1:${port}; location / { proxy_pass ${site.url}; ${more} } }`)
    const url = `http://127.0.0.1:${port}`
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    return { site, url }
  }

  it('with nothing but proxy_pass orders are taken once PUBLIC_URL is set', async () => {
    const { url } = await behind({ PUBLIC_URL: ORIGIN })
    expect(await submit(url, anOrder(), fromPage(ORIGIN))).toMatchObject({ status: 200 })
  })

  it('without PUBLIC_URL they are refused with one warning, until it passes Host on', async () => {
    const { url, site } = await behind({})
    for (const _ of [1, 2]) expect(await submit(url, anOrder(), fromPage(ORIGIN))).toMatchObject({ status: 403 })
    const warnings = () => site.stdout().match(/^.*are refused.*$/gm) ?? []
    await eventually(() => expect(warnings()).not.toEqual([]))
    for (const part of [ORIGIN, 'PUBLIC_URL']) expect(warnings()[0]).toContain(part)
    const { url: other } = await behind({}, 'proxy_set_header Host $http_host;')
    expect(await submit(other, anOrder(), fromPage(other))).toMatchObject({ status: 200 })
    await site.stop()
    expect(warnings()).toHaveLength(1)
  })

  it('on the bare domain they are refused while PUBLIC_URL says www, and taken with PUBLIC_URL_ALIASES', async () => {
    const bare = 'http://your-domain.example'
    const { url, site } = await behind({ PUBLIC_URL: ORIGIN })
    expect(await submit(url, anOrder(), fromPage(bare))).toMatchObject({ status: 403 })
    await eventually(() => expect(site.stdout()).toContain('PUBLIC_URL_ALIASES'))
    const { url: other } = await behind({ PUBLIC_URL: ORIGIN, PUBLIC_URL_ALIASES: bare })
    expect(await submit(other, anOrder(), fromPage(bare))).toMatchObject({ status: 200 })
  })
})

/** What a proxy says of a request of which the log is to hold neither the visitor's address nor the secret. */
async function askForSecret(url: string) {
  const ask = () => fetch(`${url}/subscription?token=SECRET`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
  await eventually(async () => expect((await ask()).status).toBeGreaterThanOrEqual(502))
}
const told = (said: string) =>
  said.split('\n').filter((line) => /SECRET|subscription|127\.0\.0\.1.*request|remote_ip/.test(line))

describe.skipIf(!existsSync('/usr/bin/caddy'))('deploy/Caddyfile', () => {
  it('says nothing of a request that fails, with a subscriber’s secret in it', async () => {
    const { url, end } = await startCaddy(['127.0.0.1:9'])
    await askForSecret(url)
    expect(told(await end())).toEqual([])
  }, 60_000)

  it('tells the site who asks, whatever a visitor claims, and leaves the refusal of a large body to it', async () => {
    const site = await aSite({ TRUST_PROXY: '127.0.0.1', RATE_LIMIT_MAX: '1' })
    const { url } = await startCaddy([new URL(site.url).host])
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200))
    const order = (address: string) => submit(url, anOrder(), { 'x-forwarded-for': address })
    expect((await order('203.0.113.1')).status).toBe(200)
    expect((await order('203.0.113.2')).status).toBe(429)
    const body = new URLSearchParams({ name: 'x'.repeat(20_000) })
    expect((await fetch(`${url}/`, { method: 'POST', body })).status).toBe(413)
  })

  it('serves pages while the database fails, and passes on how the site answers an order', async () => {
    const env = await aDatabase()
    const site = await aServer({ ...env, LOG_LEVEL: 'silent' })
    const { url } = await startCaddy([new URL(site.url).host])
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200))
    await onDatabase(env, (db) => db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`)
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(503))
    await sleep(2 * HEALTH_INTERVAL_MS)
    expect((await fetch(`${url}/`)).status).toBe(200)
    expect(await submit(url, anOrder())).toMatchObject({ status: 503, message: messages.failed })
  })
})

describe.skipIf(!existsSync('/usr/sbin/nginx'))('deploy/nginx-host.conf', () => {
  it('ends TLS, leads all to one address, and tells the site who asks', async () => {
    const site = await aSite({ PUBLIC_URL: `https://${WWW}`, TRUST_PROXY: '127.0.0.1', RATE_LIMIT_MAX: '1' })
    const folder = await mkdtemp(join(scratch, 'quvera-nginx-'))
    const made = spawnSync(
      'openssl',
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${WWW} -keyout privkey.pem -out fullchain.pem`.split(' '),
      { cwd: folder },
    )
    expect(made.status).toBe(0)
    const [plain, tls] = [await freePort(), await freePort()]
    const servers = readFileSync('deploy/nginx-host.conf', 'utf8')
      .replaceAll('listen 80', `listen 127.0.0.1:${plain}`)
      .replaceAll('listen 443', `listen 127.0.0.1:${tls}`)
      .replaceAll('listen [::]:80', `listen [::1]:${plain}`)
      .replaceAll('listen [::]:443', `listen [::1]:${tls}`)
      .replaceAll('/var/www/html', folder)
      .replaceAll(`/etc/letsencrypt/live/${WWW}`, folder)
      .replaceAll('http://127.0.0.1:3000', site.url)
    await mkdir(join(folder, '.well-known/acme-challenge'), { recursive: true })
    await writeFile(join(folder, '.well-known/acme-challenge/token'), 'proof')
    await chmod(folder, 0o755) // nginx's workers are another user
    await startNginx(servers.replaceAll('/var/log/nginx/error.log', 'stderr'), folder)

    function ask(host: string, path: string, body?: string, headers: Record<string, string> = {}) {
      return new Promise<{ status: number | undefined; location: string | undefined }>((done, fail) => {
        const call = request(
          {
            port: tls,
            host: '127.0.0.1',
            localAddress: '127.0.0.2', // the visitor's, which is not the proxy's
            servername: host,
            path,
            method: body ? 'POST' : 'GET',
            rejectUnauthorized: false,
            headers: { host, ...headers },
          },
          (answer) => {
            answer.resume()
            answer.on('end', () => done({ status: answer.statusCode, location: answer.headers.location }))
          },
        )
        call.on('error', fail)
        call.end(body)
      })
    }
    await eventually(async () => (await ask(WWW, '/readyz')).status === 200)
    const halfSent = Array.from({ length: 100 }, () => {
      const socket = connect(plain, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n'))
      return new Promise((done) => socket.once('error', done).once('close', done))
    })
    const cut = Promise.all(halfSent)
    const page = `https://${WWW}/buy-now?a=b`
    expect(await ask('your-domain.example', '/buy-now?a=b')).toEqual({ status: 301, location: page })
    const answer = await fetch(`http://127.0.0.1:${plain}/buy-now?a=b`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([301, page])

    for (const address of ['127.0.0.1', '[::1]']) {
      const renewal = await fetch(`http://${address}:${plain}/.well-known/acme-challenge/token`)
      expect([renewal.status, await renewal.text()]).toEqual([200, 'proof'])
    }

    const order = (address: string) =>
      ask(WWW, '/trpc/order.submit', JSON.stringify(anOrder()), {
        'content-type': 'application/json',
        origin: `https://${WWW}`,
        'x-forwarded-for': address,
      })
    expect((await order('203.0.113.1')).status).toBe(200)
    // Its limit is one: whoever makes up an address is still the same visitor.
    expect((await order('203.0.113.2')).status).toBe(429)
    expect(site.stdout()).not.toContain('TRUST_PROXY')
    await cut // nginx's own default is a minute
  }, 30_000)
})
