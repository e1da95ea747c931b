import { spawnSync } from 'node:child_process'
import { chromiumPath } from './browser.ts'

/** Says in one sentence what is missing, before a hundred tests fail for want of it. */
export default async function setup() {
  const path = await chromiumPath()
  const { status, stderr, error } = spawnSync(path, ['--no-sandbox', '--version'], { encoding: 'utf8' })
  if (status === 0) return
  const [reason] = (error?.message ?? stderr).split('\n')
  throw new Error(
    `Chromium does not start here (${reason}). Install one, with its libraries, and name it in CHROMIUM; without it the rest runs: npm test -- --project shared --project server`,
  )
}
