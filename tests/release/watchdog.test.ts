// A process that stands still is ended and says so, and a process that is busy or idle goes on.
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'

/** A program with a watchdog of half a second that does this, told from outside once it is begun. */
function program(work: string) {
  const code = `const { startWatchdog } = await import('./server/watchdog.ts'); startWatchdog(500); ${work}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  return new Promise<{ code: number | null; signal: string | null; said: string }>((done) =>
    child.once('close', (code, signal) => done({ code, signal, said })),
  )
}

it('a process that stands still is ended, and says so', async () => {
  const hung = await program('setTimeout(() => { for (;;); }, 100)')
  expect(hung).toEqual({
    code: null,
    signal: 'SIGKILL',
    said: expect.stringMatching(/did not respond for 0\.5 seconds/),
  })
})

it('one that is busy for a while, or has nothing to do, is not', async () => {
  const busy = 'const busy = () => { for (const end = Date.now() + 200; Date.now() < end; ); }'
  const ended = await Promise.all([
    program(`${busy}; setInterval(busy, 210); setTimeout(() => process.exit(7), 1500)`),
    program('setTimeout(() => process.exit(8), 1500)'),
  ])
  expect(ended).toEqual([7, 8].map((code) => ({ code, signal: null, said: '' })))
})
