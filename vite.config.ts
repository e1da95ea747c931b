import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { compressAssets } from './client/build/compress-assets.ts'
import { buildPages, pages } from './client/build/pages-plugin.ts'
import { pictures } from './client/build/pictures-plugin.ts'

const REACT = /node_modules\/(react|react-dom|scheduler)\//

/** tRPC is built for browsers without object spread; its stand-in for that costs the server a tenth of an order. */
const nativeSpread: Plugin = {
  name: 'native-spread',
  transform: {
    filter: { code: 'function _objectSpread2(' },
    handler: (code) =>
      code.replace(
        /function _objectSpread2\(e\) \{.*?\n\}/s,
        'function _objectSpread2(...objects) { return Object.assign(...objects) }',
      ),
  },
}

/** `vite build` makes dist/client, the pages and what they load, and dist/server, the server in one file a command. */
export default defineConfig({
  root: 'client',
  appType: 'custom',
  plugins: [react(), pages(), pictures(), nativeSpread],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2023' },
  environments: {
    client: {
      build: {
        // One file that stays as it is, and in the browsers' caches, when only our own code changes.
        rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'react', test: REACT }] } } },
      },
    },
    server: {
      consumer: 'server',
      // The embedded database finds its files beside its own code; all else goes into the bundle.
      resolve: { noExternal: true, external: ['@electric-sql/pglite'] },
      build: {
        outDir: resolve('dist/server'),
        emptyOutDir: true,
        copyPublicDir: false,
        ssr: true,
        target: 'node24',
        rolldownOptions: { input: { main: resolve('server/main.ts'), staff: resolve('server/staff.ts') } },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      await buildPages(builder)
      await compressAssets(resolve('dist/client/assets'))
      if (builder.environments.server) await builder.build(builder.environments.server)
    },
  },
  server: { fs: { allow: ['..'] }, proxy: { '/trpc/': 'http://127.0.0.1:3000' } },
})
