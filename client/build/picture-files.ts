import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import type { PictureSet } from '../content/pictures.ts'

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
