/** `npm run pictures -- NAME photo.jpg [--ground "#RRGGBB"]`: the files of a picture, from a photo. */
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp, { type Sharp } from 'sharp'
import { products } from '../../shared/catalogue.ts'
import { productCards } from '../content/product.ts'
import { imagesFolder, readPictures } from './pictures-plugin.ts'

const DEFAULT_WIDTHS = [400, 640, 960]
const bottles = Object.values(productCards).map(({ picture }) => picture)
/** The first pictures of pages, and the width of each that common phones load. */
const forPhones = new Map([['home-pair', 720], ...bottles.map((name) => [name, 480] as const)])
const USAGE = `Usage: npm run pictures -- NAME PHOTO [--ground "#RRGGBB"]

Writes NAME-WIDTH.avif into client/images, and the second width also as .webp. It replaces the files of this name.
An existing picture keeps its widths. One of a new product gets those of the first product, any other ${DEFAULT_WIDTHS.join(', ')}.
--ground is the background colour, which becomes transparent.`
/** Of what common phones load first the next one is tried until the file is small enough. */
const QUALITIES = [55, 46, 38, 31, 25, 20]
/** With its headers such a file has to keep to `firstPicture` in tests/e2e/budgets.test.ts. */
const FIRST_BYTES_MAX = 11_200
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
  const made = await readPictures(folder)
  const { widths = DEFAULT_WIDTHS } = made[name] ?? made[ofFirstProduct(name)] ?? {}
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
    const isForPhones = forPhones.get(name) === width
    const avif = await encode(resized, isForPhones ? FIRST_BYTES_MAX : Number.POSITIVE_INFINITY)
    await writeFile(`${file}.avif`, avif)
    if (isForPhones && avif.length > FIRST_BYTES_MAX) console.warn(tooHeavy(avif.length))
    if (index === 1) await resized.webp({ quality: 78, effort: 6, smartSubsample: true }).toFile(`${file}.webp`)
  }
  console.log(`Made ${name} in the widths ${widths.join(', ')}. Show it with <Picture name="${name}" … />.`)
}

/** The name of the same picture of the first product: of `quvera-50-capsules` it is `quvera-300-capsules`. */
function ofFirstProduct(name: string): string {
  const own = bottles.find((bottle) => name === bottle || name.startsWith(`${bottle}-`))
  return own ? productCards[products[0]].picture + name.slice(own.length) : name
}

/** In the best quality with which it has at most so many bytes, else in the last one. */
async function encode(picture: Sharp, bytesMax: number): Promise<Buffer> {
  const chromaSubsampling = Number.isFinite(bytesMax) ? '4:2:0' : '4:4:4' // half as many colours as pixels, or as many
  let avif = Buffer.alloc(0)
  for (const quality of QUALITIES) {
    avif = await picture.clone().avif({ quality, chromaSubsampling }).toBuffer()
    if (avif.length <= bytesMax) break
  }
  return avif
}

function tooHeavy(bytes: number): string {
  return `It is the first picture of a page, and has ${bytes} bytes where phones should get at most ${FIRST_BYTES_MAX}: the checks will be red. Take a photo with a plain background (--ground) and less detail.`
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
