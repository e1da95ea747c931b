import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import type { Plugin } from 'vite'
import { brand, palette } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { inPalette } from '../icon.ts'

const svg = Buffer.from(inPalette(readFileSync(join(import.meta.dirname, '../favicon.svg'), 'utf8')))
const DENSITY = 600 // drawn larger than any icon, then made smaller

const icons: Record<string, Sharp> = {
  'favicon.ico': png(32), // browsers take a PNG by this name
  'icon-512.png': png(512),
  // iOS cuts its corners itself and shows transparent ones black.
  'apple-touch-icon.png': png(180).flatten({ background: palette.paper }),
}

function png(size: number) {
  return sharp(svg, { density: DENSITY }).resize(size).png()
}

/** For the desk on the home screen of a telephone. Browsers ask for it without a cookie: it holds nothing private. */
const manifest = {
  name: `${brand.name} desk`,
  short_name: `${brand.name} desk`,
  start_url: DESK_PATH,
  scope: DESK_PATH,
  display: 'standalone',
  background_color: palette.paper,
  theme_color: palette.paper,
  icons: [{ src: '/icon-512.png', sizes: '512x512', type: 'image/png' }],
}

/** Draws the icons that browsers ask for by name, in the colours of the palette. */
export function iconFiles(): Plugin {
  return {
    name: 'icons',
    async generateBundle() {
      if (this.environment.name !== 'client') return
      for (const [fileName, icon] of Object.entries(icons))
        this.emitFile({ type: 'asset', fileName, source: await icon.toBuffer() })
      this.emitFile({ type: 'asset', fileName: 'assets/desk.webmanifest', source: JSON.stringify(manifest) })
    },
  }
}
