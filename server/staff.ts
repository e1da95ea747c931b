/** `npm run staff -- COMMAND`: commands for staff and operators, also while the site runs. */
import { requireNode } from './node-version.mjs'

requireNode()
const { runStaff } = await import('./commands.ts')
const { argv, env, stdin: input, stdout: output, stderr: errors } = process
// Exits explicitly: unread output would keep the process alive.
process.exit(await runStaff(argv.slice(2), env, { input, output, errors }))
