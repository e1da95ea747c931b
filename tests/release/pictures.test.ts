// npm run pictures makes all widths of a product photo, and refuses a photo or a ground that does not fit.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPictures } from '../../client/build/pictures-plugin.ts'
import { runProgram } from '../support/staff-command.ts'

const GROUND = '#f0e6d6'
const GREEN = '#2f5f3f'
/** Inside the bottle in the middle of the photo, and where there is nothing but ground, as shares of width and height. */
const BOTTLE = { left: 0.35, top: 0.35, width: 0.3, height: 0.3 }
const ABOVE = { left: 0, top: 0, width: 1, height: 0.25 }

let folder: string
const file = (name: string) => join(folder, name)
const pictures = (...args: string[]) => runProgram('client/build/make-picture.ts', [...args, '--folder', folder], {})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quvera-pictures-'))
  const bottle = await sharp({ create: { width: 400, height: 500, channels: 3, background: GREEN } })
    .png()
    .toBuffer()
  await sharp({ create: { width: 1000, height: 1250, channels: 3, background: GROUND } })
    .composite([{ input: bottle }])
    .jpeg({ quality: 90 })
    .toFile(file('photo.jpg'))
})
afterAll(() => rm(folder, { recursive: true }))

/** How far a pixel of this part of a picture is at most from red, green, blue and opacity; null is whatever there is. */
async function furthest(name: string, part: typeof BOTTLE, wanted: (number | null)[]) {
  const { width, height } = await sharp(file(name)).metadata()
  const region = {
    left: Math.ceil(part.left * width),
    top: Math.ceil(part.top * height),
    width: Math.floor(part.width * width),
    height: Math.floor(part.height * height),
  }
  const bytes = await sharp(file(name)).extract(region).ensureAlpha().raw().toBuffer()
  return bytes.reduce((most, byte, index) => Math.max(most, Math.abs(byte - (wanted[index % 4] ?? byte))), 0)
}

describe('npm run pictures', () => {
  it('makes a picture in three widths, with a transparent ground', async () => {
    expect(await pictures('tin', file('photo.jpg'), '--ground', GROUND)).toMatchObject({ code: 0, stderr: '' })
    expect(await readPictures(folder)).toEqual({ tin: { widths: [400, 640, 960], ratio: 1.25 } })
    const made = (await readdir(folder)).filter((name) => name.startsWith('tin-'))
    expect(made.sort()).toEqual(['tin-400.avif', 'tin-640.avif', 'tin-640.webp', 'tin-960.avif'])
    for (const name of made) {
      expect(await furthest(name, ABOVE, [null, null, null, 0])).toBe(0)
      expect(await furthest(name, BOTTLE, [0x2f, 0x5f, 0x3f, 255])).toBeLessThan(8)
    }
  })

  it('keeps the widths of a picture that exists, and the whole photo when no ground is named', async () => {
    for (const width of [200, 320])
      await sharp(file('photo.jpg'))
        .resize(width)
        .toFile(file(`jar-${width}.avif`))
    await pictures('jar', file('photo.jpg'), '--ground', GROUND)
    await pictures('jar', file('photo.jpg'))
    expect(await readPictures(folder)).toMatchObject({ jar: { widths: [200, 320], ratio: 1.25 } })
    expect(await furthest('jar-320.webp', ABOVE, [null, null, null, 255])).toBe(0)
  })

  it('refuses a photo that is too small, and a ground that is no colour or not that of the photo', async () => {
    await sharp(file('photo.jpg')).resize(800).toFile(file('small.jpg'))
    const { code, stderr } = await pictures('cup', file('small.jpg'))
    expect([code, stderr]).toEqual([1, 'The photo is 800 pixels wide, and 960 are needed.\n'])
    const colour = await pictures('cup', file('photo.jpg'), '--ground', 'sand')
    expect(colour).toMatchObject({ code: 1, stderr: '"sand" is not a colour of the form #RRGGBB.\n' })
    const ground = await pictures('cup', file('photo.jpg'), '--ground', '#112233')
    expect(ground.code).toBe(1)
    expect(ground.stderr).toMatch(
      /^Almost nothing in the photo has this background colour\. Its upper left corner is #[ef]\w{5}\.$/m,
    )
    expect((await readdir(folder)).filter((name) => name.startsWith('cup-'))).toEqual([])
  })
})
