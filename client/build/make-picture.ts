/** `npm run pictures -- NAME photo.jpg [--ground "#RRGGBB"] [--widths 400,640,960]`: the files of a picture, from a photo. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { cutOut, parseColour } from './cut-out.ts'
import { imagesFolder, readPictureSets } from './picture-files.ts'

const USAGE = `Usage: npm run pictures -- NAME PHOTO [--ground "#RRGGBB"] [--widths 400,640,960]

Writes NAME-WIDTH.avif into client/images, and the second width also as .webp, in the place of what is there under this
name. A picture that exists keeps its widths unless others are named, a new one has those of the products.
--ground is the colour behind what is shown: it becomes transparent.`
const PRODUCT_WIDTHS = [400, 640, 960]

try {
  await makePicture(process.argv.slice(2))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function makePicture(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    options: { ground: { type: 'string' }, widths: { type: 'string' }, folder: { type: 'string' } },
    allowPositionals: true,
  })
  const [name, photo] = positionals
  if (!name || !photo || !/^[a-z0-9-]+$/.test(name)) throw new Error(USAGE)
  const folder = values.folder ?? imagesFolder
  const before = (await readPictureSets(folder)).find(({ names }) => names.includes(name))
  const widths = values.widths?.split(',').map(Number) ?? before?.widths ?? PRODUCT_WIDTHS
  const upright = sharp(photo).autoOrient().toColourspace('srgb')
  const whole = values.ground ? await cutOut(upright, parseColour(values.ground)) : upright
  const { data, info } = await whole.png().toBuffer({ resolveWithObject: true })
  if (widths.length < 2 || widths.some((width) => !(width > 0 && width <= info.width)))
    throw new Error(
      `The photo is ${info.width} pixels wide; two or more widths up to that are needed, not ${widths.join(', ')}.`,
    )
  const old = (await readdir(folder)).filter((file) => new RegExp(`^${name}-\\d+\\.(avif|webp)$`).test(file))
  await Promise.all(old.map((file) => rm(join(folder, file))))
  for (const [index, width] of widths.entries()) {
    const resized = sharp(data).resize(width)
    const file = join(folder, `${name}-${width}`)
    await resized.clone().avif({ quality: 55 }).toFile(`${file}.avif`)
    if (index === 1) await resized.webp({ quality: 78, effort: 6, smartSubsample: true }).toFile(`${file}.webp`)
  }
  console.log(`Made ${name} in the widths ${widths.join(', ')}. Show it with <Picture name="${name}" … />.`)
}
