import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { iconFiles } from './client/build/icons-plugin.ts'
import { buildPages, pages, paletteStyles } from './client/build/pages-plugin.ts'
import { pictures } from './client/build/pictures-plugin.ts'
import { makeEmptyDatabase } from './server/embedded/empty-database.ts'

const REACT = /node_modules\/(react|react-dom|scheduler)\//
/** The oldest browsers in which every page and the whole order process work with scripts (docs/decisions/0009-browsers.md). */
const BROWSERS = ['safari16.4', 'chrome109', 'edge109', 'firefox115']

/** `vite build` writes dist/client (pages and assets) and dist/server (one file for each command). */
export default defineConfig({
  root: 'client',
  appType: 'custom',
  plugins: [react(), pages(), pictures(), iconFiles(), paletteStyles],
  build: {
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    target: BROWSERS,
    rolldownOptions: { checks: { bundlerTimings: false } }, // on a loaded machine ten lines that ask for no action
  },
  environments: {
    client: {
      build: {
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [
                // A separate file, which browsers keep cached when only our code changes.
                { name: 'react', test: REACT },
              ],
            },
          },
        },
      },
    },
    server: {
      consumer: 'server',
      define: { 'process.env.NODE_ENV': JSON.stringify('production') }, // selects React's production build
      resolve: { noExternal: true },
      build: {
        outDir: resolve('dist/server'),
        emptyOutDir: true,
        copyPublicDir: false,
        ssr: true,
        target: 'node24',
        rolldownOptions: {
          input: {
            main: resolve('server/main.ts'),
            staff: resolve('server/staff.ts'),
          },
          output: { chunkFileNames: '[name].js' },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      await buildPages(builder)
      if (!builder.environments.server) return
      await builder.build(builder.environments.server)
      await makeEmptyDatabase()
    },
  },
  server: { fs: { allow: ['..'] } }, // shared/ lies beside client/
})
