import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Plugin } from 'vite'
import { brand } from '../../shared/brand.ts'
import { productSlug, products } from '../../shared/catalogue.ts'
import { ingredients } from '../content/ingredients.ts'
import { indicationAlts, productCards } from '../content/product.ts'
import type { PictureFiles } from '../ui/picture.tsx'

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
      const errors = await findCatalogueErrors(products)
      if (errors.length > 0) throw new Error(`The products in shared/catalogue.ts:\n- ${errors.join('\n- ')}`)
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
          'import.meta.env.PICTURES_FOLDER': JSON.stringify(address),
          'import.meta.env.PICTURES': JSON.stringify(await readPictures()),
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

/** The longest word after the brand's name that fits beside the bottle on a page of 320 px. */
const WORD_LETTERS_MAX = 12

/** Everything that is missing for the products of the catalogue, one message each. */
export async function findCatalogueErrors(names: readonly string[], folder = imagesFolder): Promise<string[]> {
  const made = await readPictures(folder)
  const files = await readdir(folder)
  const errors: string[] = []
  const pictures = ['home-pair', 'buy-now', 'not-found', ...Object.keys(indicationAlts)]
  for (const { picture } of Object.values(ingredients)) if (picture) pictures.push(picture.name)
  for (const name of names) {
    const [word = ''] = name.slice(brand.name.length + 1).split(' ')
    if (!name.startsWith(`${brand.name} `) || word.length > WORD_LETTERS_MAX)
      errors.push(
        `"${name}" must be the brand's name, a space and a word of at most ${WORD_LETTERS_MAX} letters, which is shown large beside the bottle. More words may follow`,
      )
    const { picture } = (productCards as Partial<Record<string, { picture: string }>>)[name] ?? {}
    if (picture) pictures.push(picture, `${picture}-capsules`, `${picture}-label-wide`)
    else errors.push(`"${name}" has no card in client/content/product.ts`)
    const card = `og-${productSlug(name)}.jpg`
    if (!files.includes(card)) errors.push(`client/images/${card} is missing: the card of shared links, 1200 by 630`)
  }
  for (const name of pictures.filter((each) => !made[each]))
    errors.push(`there is no picture ${name}: npm run pictures -- ${name} photo.jpg`)
  return errors
}

export const imagesFolder = join(import.meta.dirname, '../images')

/** The pictures in client/images by name: files called NAME-WIDTH.avif, one width of each also as .webp. */
export async function readPictures(folder = imagesFolder): Promise<Record<string, PictureFiles>> {
  const pictures: Record<string, PictureFiles> = {}
  for (const file of (await readdir(folder)).sort()) {
    const [, name, width] = /^(.+)-(\d+)\.avif$/.exec(file) ?? []
    if (!name) continue
    pictures[name] ??= { widths: [], ratio: 0 }
    pictures[name].widths.push(Number(width))
  }
  for (const [name, picture] of Object.entries(pictures)) {
    picture.widths.sort((a, b) => a - b)
    const { width, height } = await sharp(join(folder, `${name}-${picture.widths.at(-1)}.avif`)).metadata()
    picture.ratio = Number((height / width).toFixed(3))
  }
  return pictures
}
