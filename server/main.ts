/** `node dist/server/main.js`: the site. The version is checked before anything is loaded that an older Node lacks. */
import { requireNode } from './node-version.ts'

requireNode()
const { runSite } = await import('./serve.ts')
await runSite(process.env)
