/** `npm run staff -- COMMAND`: what staff and operators do beside the site, also while it runs. */
import { requireNode } from './node-version.ts'

requireNode()
const { runStaff } = await import('./staff/run.ts')
const { argv, env, stdin: input, stdout: output, stderr: errors } = process
// Not left to end by itself: output that nobody reads any more would keep it for ever.
process.exit(await runStaff(argv.slice(2), env, { input, output, errors }))
