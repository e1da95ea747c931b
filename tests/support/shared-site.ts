import type { TestProject } from 'vitest/node'
import { sendingThrough, startFakeResend } from './fake-resend.ts'
import { createFolder } from './scratch.ts'
import { startServer } from './server-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The site that all files share whose tests need no settings of their own. */
    sharedSite: { url: string; env: Record<string, string> }
  }
}

/** Starts it: the built server with the database that it starts itself. */
export default async function setup(project: TestProject) {
  const [folder, resend] = await Promise.all([createFolder('quvera-shared-'), startFakeResend()])
  const env = { DATA_DIR: folder.path }
  const server = await startServer({ ...env, ...sendingThrough(resend), RATE_LIMIT_MAX: '0' })
  project.provide('sharedSite', { url: server.url, env })
  return async () => {
    await server.stop('SIGKILL')
    await resend.close()
    await folder.remove()
  }
}
