// A product page prints whole on two sheets, and its summary for a physician on one.
import { extractText } from 'unpdf'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()

async function printed(page: Awaited<ReturnType<typeof visit>>['page']) {
  const { text, totalPages } = await extractText(new Uint8Array(await page.pdf({ format: 'A4' })))
  const sheets = text.map((sheet) => sheet.replace(/\s+/g, ' '))
  return { sheets, text: sheets.join(' '), totalPages }
}

it.each(products.map(productPath))('%s is printed whole, also once the carousel has taken over', async (path) => {
  const { page } = await visit(path)
  const before = await printed(page)
  await page.locator('#mechanism').scrollIntoViewIfNeeded()
  await page.locator('.carousel').waitFor()
  const after = await printed(page)
  expect(after).toEqual(before)
  expect(after.totalPages).toBe(2)
  expect(after.text.split('polyunsaturated')).toHaveLength(2) // each ingredient once
  expect(after.text).toContain('Liver health')
  expect(after.sheets.map((sheet) => /Please read before use/.test(sheet) === /Indications/.test(sheet))).toEqual([
    true,
    true,
  ])
  expect(after.text).toContain(`${brand.address.city} ${brand.address.postalCode}`)
  expect(after.text).not.toMatch(/read more|Pause/)
  await page.locator('#mechanism').scrollIntoViewIfNeeded()
  await page.locator('.carousel').waitFor() // and it is back on the screen
})

it.each(products.map(productPath))('%s prints one sheet for a physician', async (path) => {
  const { page } = await visit(path)
  await page.evaluate(() => {
    window.print = () => {}
  })
  await page.getByRole('link', { name: 'Show it to your physician' }).click()
  const { text, totalPages } = await printed(page)
  expect(totalPages).toBe(1)
  for (const part of [
    ...[
      'Active ingredients, as on the label',
      'Dose advised by the physician',
      'Name:',
      'Storage',
      'Liver health',
      brand.phone,
    ],
    ...['warfarin or insulin', 'take a blood thinner', 'have surgery planned', path, String(new Date().getFullYear())],
  ])
    expect(text).toContain(part)
  expect(text).not.toMatch(/Indications|areas named/)
  expect((await printed(page)).text).toContain('Indications') // the next print is of the page again
})
