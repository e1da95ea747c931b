/** `node dist/server/main.js`: the site. Checks the version of Node before it loads anything else. */
import { requireNode } from './node-version.mjs'

requireNode()
const { runSite } = await import('./serve.ts')
await runSite(process.env)
