import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Plugin } from 'vite'
import { palette } from '../../shared/brand.ts'
import { inPalette } from '../icon.ts'

const svg = Buffer.from(inPalette(readFileSync(join(import.meta.dirname, '../favicon.svg'), 'utf8')))
const DENSITY = 600 // drawn larger than any icon, then made smaller

const icons: Record<string, () => Promise<Buffer>> = {
  'favicon.ico': async () => icoFile(await png(32)),
  'icon-512.png': () => png(512),
  // iOS cuts its corners itself and shows transparent ones black.
  'apple-touch-icon.png': () =>
    sharp(svg, { density: DENSITY }).resize(180).flatten({ background: palette.paper }).png().toBuffer(),
}

/** Draws the icons that browsers ask for by name, in the colours of the palette. */
export function iconFiles(): Plugin {
  return {
    name: 'icons',
    async generateBundle() {
      if (this.environment.name !== 'client') return
      for (const [fileName, draw] of Object.entries(icons))
        this.emitFile({ type: 'asset', fileName, source: await draw() })
    },
    configureServer({ middlewares }) {
      middlewares.use(async ({ url }, response, next) => {
        const draw = icons[url?.slice(1) ?? '']
        if (draw) response.end(await draw())
        else next()
      })
    },
  }
}

function png(size: number) {
  return sharp(svg, { density: DENSITY }).resize(size).png().toBuffer()
}

/** An icon file that holds one PNG of 32 by 32 pixels, which begins after these 22 bytes. */
function icoFile(image: Buffer) {
  const header = Buffer.from([0, 0, 1, 0, 1, 0, 32, 32, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 22, 0, 0, 0])
  header.writeUInt32LE(image.length, 14)
  return Buffer.concat([header, image])
}
