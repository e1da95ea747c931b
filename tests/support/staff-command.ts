import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const project = resolve(import.meta.dirname, '../..')

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program of ours to its end, with nothing of this process's environment but what is given. */
export function runProgram(file: string, args: string[], env: Record<string, string>): Promise<Ran> {
  const child = spawn(process.execPath, [resolve(project, file), ...args], {
    cwd: project,
    env: { PATH: process.env.PATH ?? '', EMBEDDED_DATABASE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ran: Ran = { code: null, stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk) => {
      ran[name] += chunk
    })
  }
  return new Promise((done) => child.once('close', (code) => done({ ...ran, code })))
}

export function staff(args: string[], env: Record<string, string>): Promise<Ran> {
  return runProgram('dist/server/staff.js', args, env)
}
