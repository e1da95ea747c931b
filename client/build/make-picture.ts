/** `npm run pictures -- NAME photo.jpg [--ground "#RRGGBB"]`: the files of a picture, from a photo. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp, { type Sharp } from 'sharp'
import { imagesFolder, readPictures } from './pictures-plugin.ts'

const DEFAULT_WIDTHS = [400, 640, 960]
const USAGE = `Usage: npm run pictures -- NAME PHOTO [--ground "#RRGGBB"]

Writes NAME-WIDTH.avif into client/images, and the second width also as .webp. It replaces the files of this name.
An existing picture keeps its widths. A new one gets ${DEFAULT_WIDTHS.join(', ')}.
--ground is the background colour, which becomes transparent.`
/** A pixel whose colour differs by at most so many of 255 levels is background. */
const NOISE = 4
/** A pixel that differs by so many levels or more is opaque. */
const SOLID = 40
/** The least share of a photo that must be background. */
const BACKGROUND_MIN = 0.02

try {
  await makePicture(process.argv.slice(2))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function makePicture(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    options: { ground: { type: 'string' }, folder: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  if (values.help) return console.log(USAGE)
  const [name, photo] = positionals
  if (!name || !photo) throw new Error(USAGE)
  if (!/^[a-z0-9-]+$/.test(name))
    throw new Error(`"${name}" is no name of a picture: small letters, digits and hyphens, such as quvera-300.`)
  const folder = values.folder ?? imagesFolder
  const { widths = DEFAULT_WIDTHS } = (await readPictures(folder))[name] ?? {}
  const upright = sharp(photo).autoOrient().toColourspace('srgb')
  const whole = values.ground ? await cutOut(upright, parseColour(values.ground)) : upright
  const { data, info } = await whole.png().toBuffer({ resolveWithObject: true })
  const widest = Math.max(...widths)
  if (info.width < widest) throw new Error(`The photo is ${info.width} pixels wide, and ${widest} are needed.`)
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

/** @throws Error that says what a colour looks like */
function parseColour(text: string): number[] {
  if (!/^#[0-9a-f]{6}$/i.test(text)) throw new Error(`"${text}" is not a colour of the form #RRGGBB.`)
  return [...Buffer.from(text.slice(1), 'hex')]
}

/**
 * Makes the background transparent. The opacity of a pixel grows with its difference to `ground` and is 0 where there is only
 * background. Its colour becomes the one that, at this opacity over `ground`, gives the old one.
 */
async function cutOut(picture: Sharp, ground: number[]): Promise<Sharp> {
  const { data, info } = await picture.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const corner = `#${data.subarray(0, 3).toString('hex')}`
  let background = 0
  for (let pixel = 0; pixel < data.length; pixel += 4) {
    const difference = Math.max(...ground.map((level, channel) => Math.abs((data[pixel + channel] ?? 0) - level)))
    const opacity = Math.min(1, Math.max(0, (difference - NOISE) / (SOLID - NOISE)))
    for (const [channel, level] of ground.entries()) {
      const shown = (data[pixel + channel] ?? 0) - level
      data[pixel + channel] = Math.min(255, Math.max(0, Math.round(level + (opacity && shown / opacity))))
    }
    data[pixel + 3] = Math.round(opacity * 255)
    if (opacity === 0) background++
  }
  if (background < (data.length / 4) * BACKGROUND_MIN)
    throw new Error(`Almost nothing in the photo has this background colour. Its upper left corner is ${corner}.`)
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
}
