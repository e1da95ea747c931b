import { spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { runStaff } from '../../server/commands.ts'

const project = resolve(import.meta.dirname, '../..')

type Ran = { code: number | null; stdout: string; stderr: string }

/** Starts a program with nothing of this process's environment but what is given. Whoever calls reads its output. */
function start(command: string, args: string[], env: Record<string, string>) {
  const child = spawn(command, args, {
    cwd: project,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk
  })
  /** Its exit code; null when a signal ended it. */
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  return { process: child, stderr: () => stderr, exited }
}

async function run(command: string, args: string[], env: Record<string, string>): Promise<Ran> {
  const started = start(command, args, env)
  let stdout = ''
  started.process.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk
  })
  const code = await new Promise<number | null>((done) => started.process.once('close', done))
  return { code, stdout, stderr: started.stderr() }
}

/** Runs a program of ours to its end. */
export function runProgram(file: string, args: string[], env: Record<string, string>): Promise<Ran> {
  return run(process.execPath, [resolve(project, file), ...args], env)
}

/** Runs a staff command in this process, its output into a pipe, or on a terminal with so many columns. */
export async function staff(args: string[], env: Record<string, string>, columns?: number): Promise<Ran> {
  const ran: Ran = { code: null, stdout: '', stderr: '' }
  const write = (to: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        ran[to] += chunk
        done()
      },
    })
  const output = Object.assign(write('stdout'), columns && { columns })
  ran.code = await runStaff(args, env, { input: Readable.from([]), output, errors: write('stderr') })
  return ran
}

/** The staff command as it is built and started: its output waits to be read. */
export function startStaff(args: string[], env: Record<string, string>) {
  return start(process.execPath, [resolve(project, 'dist/server/staff.js'), ...args], env)
}

/** Runs a line of bash, in which `node` is ours. */
export function runShell(line: string, env: Record<string, string>): Promise<Ran> {
  return run('bash', ['-c', line], env)
}
