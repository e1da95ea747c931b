import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Plugin } from 'vite'
import type { PictureSet } from '../ui/picture.tsx'

/**
 * Tells the code which pictures there are, in which widths. Puts them into one folder whose name changes with any of
 * them: a hash a picture would cost every visitor 2 kB of script that cannot be compressed.
 */
export function pictures(): Plugin {
  const files = new Map<string, Buffer>()
  let address = '/images'
  return {
    name: 'pictures',
    async config(_config, { command }) {
      if (command === 'build') {
        const hash = createHash('sha256')
        for (const name of (await readdir(imagesFolder)).sort()) {
          const content = await readFile(join(imagesFolder, name))
          hash.update(name).update(content)
          files.set(name, content)
        }
        address = `/assets/pictures-${hash.digest('base64url').slice(0, 8)}`
      }
      return {
        define: {
          'import.meta.env.PICTURES': JSON.stringify(address),
          'import.meta.env.PICTURE_SETS': JSON.stringify(await readPictureSets()),
        },
      }
    },
    generateBundle() {
      if (this.environment.name !== 'client') return
      for (const [name, source] of files)
        this.emitFile({ type: 'asset', fileName: `${address.slice(1)}/${name}`, source })
    },
  }
}

export const imagesFolder = join(import.meta.dirname, '../images')

/** What there is in client/images: files called NAME-WIDTH.avif, one width of each also as .webp. */
export async function readPictureSets(folder = imagesFolder): Promise<PictureSet[]> {
  const widths = new Map<string, number[]>()
  for (const file of await readdir(folder)) {
    const [, name, width] = /^(.+)-(\d+)\.avif$/.exec(file) ?? []
    if (name) widths.set(name, [...(widths.get(name) ?? []), Number(width)])
  }
  const sets = new Map<string, PictureSet>()
  for (const [name, unsorted] of [...widths].sort()) {
    const all = unsorted.sort((a, b) => a - b)
    const { width, height } = await sharp(join(folder, `${name}-${all.at(-1)}.avif`)).metadata()
    const set = { names: [], widths: all, ratio: Number((height / width).toFixed(3)) }
    const key = JSON.stringify(set)
    sets.set(key, sets.get(key) ?? set)
    sets.get(key)?.names.push(name)
  }
  return [...sets.values()]
}
