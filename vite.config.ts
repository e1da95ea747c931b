import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { buildPages, pages } from './client/pages-plugin.ts'

export default defineConfig({
  root: 'client',
  appType: 'custom',
  plugins: [react(), pages()],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  builder: { buildApp: buildPages },
  server: { fs: { allow: ['..'] }, proxy: { '/trpc': 'http://127.0.0.1:3000' } },
})
