// Every product has its pictures, its card and a name that fits, and the build names all that a further product lacks.
import { expect, it } from 'vitest'
import { findCatalogueErrors } from '../../client/build/pictures-plugin.ts'
import { brand } from '../../shared/brand.ts'
import { productSlug, products } from '../../shared/catalogue.ts'
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
