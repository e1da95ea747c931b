/** `npm run bench`: all benches one after the other, whatever one of them misses; ends with what was missed. */
import { spawn } from 'node:child_process'

const BENCHES = ['orders', 'mails', 'scale', 'desk', 'static', 'pages']

const problems: string[] = []
for (const name of BENCHES) {
  const child = spawn('npm', ['run', '-s', `bench:${name}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    process.stdout.write(chunk)
  })
  const code = await new Promise<number | null>((done) => child.once('close', done))
  const missed = text.split('\n').filter((line) => line.startsWith('MISSED '))
  if (code !== 0 && missed.length === 0) missed.push('did not run to its end')
  problems.push(...missed.map((line) => `bench:${name}: ${line.replace('MISSED ', '')}`))
}
console.log(problems.length === 0 ? '\nEvery goal was met.' : `\nMissed:\n${problems.join('\n')}`)
process.exit(problems.length === 0 ? 0 : 1)
