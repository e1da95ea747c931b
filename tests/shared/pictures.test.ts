// Every product has its pictures, its card and a name that fits, and the build names all that a further product lacks.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { findCatalogueErrors } from '../../client/build/pictures-plugin.ts'
import { productCards } from '../../client/content/product.ts'
import { brand } from '../../shared/brand.ts'
import { productSlug, products } from '../../shared/catalogue.ts'
import { aFolder } from '../support/a-folder.ts'
import { runShell } from '../support/staff-command.ts'

it('every product has its pictures, its card, and a name that fits', async () => {
  expect(await findCatalogueErrors(products)).toEqual([])
})

it('what a further product lacks is said at once, all of it by name', async () => {
  const longer = `${brand.name} Immunity Support Formula`
  expect(await findCatalogueErrors([...products, longer])).toEqual([
    `"${longer}" has no card in client/content/product.ts`,
    expect.stringContaining(`og-${productSlug(longer)}.jpg is missing`),
  ])
  const folder = import.meta.dirname // which has no pictures
  const errors = await findCatalogueErrors(products, folder)
  for (const name of ['quvera-300-capsules', 'zinc', 'home-pair', 'og-'])
    expect(errors.filter((fault) => fault.includes(name)).length, name).toBeGreaterThan(0)
})

it('a word that does not fit beside its bottle is one fault, with its reason', async () => {
  const name = `${brand.name} Cardiovascularis`
  const [first, ...others] = await findCatalogueErrors([name])
  expect(first).toContain(`"${name}" must be`)
  expect(first).toMatch(/at most 12 letters, which is shown large/)
  expect(others.join()).not.toContain('letters')
})

it.each([
  ['NAME photo.jpg', '"NAME" is no name of a picture: small letters, digits and hyphens'],
  ['name nowhere.jpg', 'Input file is missing: nowhere.jpg'],
  ['name', 'Usage: npm run pictures'],
])('`npm run pictures -- %s` says what is wrong', async (words, reason) => {
  const { code, stderr } = await runShell(`node client/build/make-picture.ts ${words}`, {})
  expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
})

it('`npm run pictures -- --help` says how it is used', async () => {
  const { code, stdout } = await runShell('node client/build/make-picture.ts --help', {})
  expect([code, stdout]).toEqual([0, expect.stringContaining('--ground is the background colour')])
})

/** A photo of 480 by 600 pixels with so much detail. */
async function aPhoto(folder: string, pixels: number, sigma: number) {
  const noise = { type: 'gaussian', mean: 128, sigma } as const
  const create = { width: pixels, height: pixels * 1.25, channels: 3, background: '#888', noise } as const
  const small = await sharp({ create }).png().toBuffer()
  await sharp(small).resize(480).jpeg({ quality: 95 }).toFile(join(folder, 'photo.jpg'))
}

it('of a page’s first picture phones get a file that keeps to the budget, or it is said that there is too much detail', async () => {
  const folder = await aFolder('pictures-')
  const [first, own] = [products[0], products[1]].map((name) => productCards[name].picture)
  // A new picture of a product gets the widths of the first one.
  await sharp({ create: { width: 480, height: 600, channels: 3, background: '#888' } }).toFile(
    join(folder, `${first}-480.avif`),
  )
  const file = join(folder, `${own}-480.avif`)
  const make = () => runShell(`node client/build/make-picture.ts ${own} ${folder}/photo.jpg --folder ${folder}`, {})
  await aPhoto(folder, 60, 30)
  expect(await make()).toMatchObject({ code: 0, stderr: '' })
  const { size } = await stat(file)
  expect(size).toBeLessThanOrEqual(11_200)
  expect(size).toBeGreaterThan(7_000) // not worse than it has to be
  await aPhoto(folder, 480, 200)
  expect((await make()).stderr).toMatch(/^It is the first picture of a page, and has \d+ bytes/)
})
