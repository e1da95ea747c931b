import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'
import { scratch } from './scratch.ts'
import { freePort } from './server-process.ts'

/** Caddy with deploy/Caddyfile in front of `sites`, without TLS, until the test ends. */
export async function startCaddy(sites: string[]) {
  const folder = await mkdtemp(join(scratch, 'quvera-caddy-'))
  const file = join(folder, 'Caddyfile')
  const config = readFileSync('deploy/Caddyfile', 'utf8')
    .replace('\n{\n', '\n{\n\tadmin off\n')
    .replace('client_ip_hash', 'ip_hash') // Debian's Caddy 2.6 has no trusted proxies, and one name for both
  await writeFile(file, config)
  const url = `http://localhost:${await freePort()}`
  const caddy = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: folder, SITE_HOST: url, SITES: sites.join(' ') },
  })
  let said = ''
  for (const stream of [caddy.stdout, caddy.stderr]) stream.on('data', (data) => (said += data))
  const ended = new Promise((done) => caddy.once('exit', done))
  async function end() {
    caddy.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
    return said
  }
  atEnd(end)
  return { url, end }
}
