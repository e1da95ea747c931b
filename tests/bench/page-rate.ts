/** `npm run bench:static`: home pages a second, all headers on, beside nginx with one worker and the same file. Needs nginx, wrk and curl. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startServer } from '../support/server-process.ts'
import { finish, median, report } from './report.ts'

const run = promisify(execFile)
const ROUNDS = 9
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)

const folder = await mkdtemp(join(tmpdir(), 'quvera-static-'))
await chmod(folder, 0o755)
const site = await startServer({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' })
const nginx = await startNginx()

const rates = { nginx: [] as number[], ours: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  rates.nginx.push(await rate(nginx.url))
  rates.ours.push(await rate(`${site.url}/`))
}
await nginx.stop()
await site.stop()
await rm(folder, { recursive: true, force: true })
console.log(`\nHome page, brotli, 64 connections, medians of ${ROUNDS} interleaved rounds of ${SECONDS} s\n`)
report('nginx, one worker', median(rates.nginx), 'pages a second')
report('Quvera', median(rates.ours), 'pages a second')
report('Quvera / nginx', median(rates.ours) / median(rates.nginx), '×', { atLeast: 0.3 })
finish()

async function rate(url: string): Promise<number> {
  const { stdout } = await run('wrk', ['-t1', '-c64', `-d${SECONDS}`, '-H', 'accept-encoding: br', url])
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** It serves the compressed bytes that the site sends. */
async function startNginx() {
  const page = ['-s', '-H', 'accept-encoding: br', site.url] // straight from the socket: fetch would decompress it
  const { stdout } = await run('curl', page, { encoding: 'buffer' })
  await writeFile(join(folder, 'brotli.html'), stdout, { mode: 0o644 })
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  await writeFile(
    config,
    `worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
    events { worker_connections 1024; }
    http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=100;
      server { listen 127.0.0.1:${port}; root ${folder}; default_type text/html; location /brotli.html { add_header content-encoding br; } } }`,
  )
  await run('nginx', ['-c', config])
  return { url: `http://127.0.0.1:${port}/brotli.html`, stop: () => run('nginx', ['-c', config, '-s', 'stop']) }
}
