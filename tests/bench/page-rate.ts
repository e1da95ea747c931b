/** `npm run bench:static`: home pages a second, all headers on, beside nginx with one worker and the same file. Needs nginx and wrk. */
import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startServer } from '../support/server-process.ts'
import { median, missed, report } from './report.ts'

const run = promisify(execFile)
const ROUNDS = 9
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)
/** Of nginx, for pages as browsers ask for them. A 304 is little more than one system call, which costs Node more. */
const GOAL = 0.3

const missing = ['nginx', 'wrk', 'curl'].filter((program) => spawnSync(program, ['-v']).error)
if (missing.length > 0) {
  console.error(`bench:static needs ${missing.join(' and ')}: apt-get install ${missing.join(' ')}`)
  process.exit(1)
}
const folder = await mkdtemp(join(tmpdir(), 'quvera-static-'))
await chmod(folder, 0o755)
const site = await startServer({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' })
const etag = (await fetch(site.url, { headers: { 'accept-encoding': 'br' } })).headers.get('etag') ?? ''
const nginx = await startNginx()

const cases: Record<string, string[]> = {
  brotli: ['-H', 'accept-encoding: br'],
  identity: [],
  '304': ['-H', 'accept-encoding: br', '-H', `if-none-match: ${etag}`],
}
const ratios: Record<string, number> = {}
console.log(`\nHome page, 64 connections, medians of ${ROUNDS} interleaved rounds of ${SECONDS} s\n`)
console.log('| requests/s | nginx, one worker | Quvera | ratio |\n|---|---|---|---|')
for (const [name, headers] of Object.entries(cases)) {
  const rates: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const path = name === 'identity' ? 'identity.html' : 'brotli.html'
    const theirs = name === '304' ? ['-H', `if-none-match: ${nginx.etag}`] : []
    rates.push([await rate(`${nginx.url}/${path}`, theirs), await rate(`${site.url}/`, headers)])
  }
  const [theirs, ours] = [median(rates.map(([first]) => first)), median(rates.map(([, second]) => second))]
  ratios[name] = ours / theirs
  console.log(`| ${name} | ${Math.round(theirs)} | ${Math.round(ours)} | ${(ours / theirs).toFixed(2)} |`)
}
await nginx.stop()
await site.stop()
await rm(folder, { recursive: true, force: true })
console.log()
for (const [name, ratio] of Object.entries(ratios))
  report(`Quvera / nginx, ${name}`, ratio, '×', name === 'brotli' ? { atLeast: GOAL } : undefined)
process.exit(missed.length ? 1 : 0)

async function rate(url: string, headers: string[]): Promise<number> {
  const { stdout } = await run('wrk', ['-t1', '-c64', `-d${SECONDS}`, ...headers, url])
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

async function startNginx() {
  for (const [file, headers] of [
    ['brotli.html', { 'accept-encoding': 'br' }],
    ['identity.html', { 'accept-encoding': 'identity' }],
  ] as const) {
    // Straight from the socket, so that the file holds the compressed bytes.
    const { stdout } = await run('curl', ['-s', '-H', `accept-encoding: ${headers['accept-encoding']}`, site.url], {
      encoding: 'buffer',
    })
    await writeFile(join(folder, file), stdout, { mode: 0o644 })
  }
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
  const url = `http://127.0.0.1:${port}`
  const { stdout } = await run('curl', ['-sI', `${url}/brotli.html`])
  return {
    url,
    etag: /etag: (\S+)/i.exec(stdout)?.[1] ?? '',
    stop: () => run('nginx', ['-c', config, '-s', 'stop']),
  }
}
