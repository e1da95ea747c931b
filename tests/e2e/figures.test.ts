// No amount, quantity, telephone number or reference is misread: small and blurred, its figures keep their shapes apart.
import type { Page } from '@playwright/test'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { productPath, products } from '../../shared/catalogue.ts'
import { siteForTests } from '../support/visit.ts'

const { site, visit } = siteForTests({ pictures: false })
/** Pairs, and how far apart they have to be. In Figtree they are at least 0.016, 0.06 and 0.004 apart; 3 and 5 of Fraunces 0.002. */
const TWINS: [one: string, other: string, least: number][] = [
  ['3', '5', 0.01],
  ['1', '7', 0.02],
  ['6', '8', 0.003],
]
const WIDTH = 24
const HEIGHT = 24

/** The ink of each pixel of a figure in the face of amounts, at 9 px and blurred by one pixel. */
async function inkOf(page: Page, figure: string) {
  await page.evaluate((text) => {
    const { fontFamily, fontWeight, fontVariantNumeric } = getComputedStyle(
      document.querySelector('.amount') as Element,
    )
    document.querySelector('#figure')?.remove()
    const place = document.body.appendChild(document.createElement('div'))
    place.id = 'figure'
    Object.assign(place.style, { fontFamily, fontWeight, fontVariantNumeric, fontSize: '9px', lineHeight: '12px' })
    Object.assign(place.style, { position: 'fixed', inset: '0', zIndex: '99', padding: '6px' })
    Object.assign(place.style, { background: '#fff', color: '#000', filter: 'blur(1px)' })
    place.textContent = text
  }, figure)
  const shot = await page.screenshot({ clip: { x: 0, y: 0, width: WIDTH, height: HEIGHT } })
  return [...(await sharp(shot).greyscale().raw().toBuffer())].map((level) => 255 - level)
}

/** 0 for the same shape; one may be moved by a pixel, and be darker. */
function difference(one: number[], other: number[]) {
  const power = (ink: number[]) => Math.sqrt(ink.reduce((sum, value) => sum + value * value, 0))
  const moves = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => y * WIDTH + x))
  const alike = moves.map((move) => one.reduce((sum, value, at) => sum + value * (other[at + move] ?? 0), 0))
  return 1 - Math.max(...alike) / (power(one) * power(other))
}

it('every figure is set in the face whose figures are told apart at 9 px, blurred, and have one width', async () => {
  const { page } = await visit('/')
  for (const [path, selector] of [
    ['/', '.contact-lines [href^=tel]'],
    ['/', '.amount'],
    ['/buy-now', '[name=quantity]'],
    ...products.map((name) => [productPath(name), '.amount'] as const),
  ] as const) {
    await page.goto(site().url + path)
    const faces = await page.locator(selector).evaluateAll((all) =>
      all.map((each) => {
        const { fontFamily, fontWeight, fontVariantNumeric } = getComputedStyle(each)
        return `${fontWeight} ${fontVariantNumeric} ${fontFamily.split(',')[0]}`
      }),
    )
    expect(new Set(faces), `${selector} on ${path}`).toEqual(new Set(['600 lining-nums tabular-nums Figtree']))
  }
  await page.evaluate(() => document.fonts.ready)
  for (const [one, other, least] of TWINS) {
    const apart = difference(await inkOf(page, one), await inkOf(page, other))
    expect(apart, `${one} and ${other}`).toBeGreaterThan(least)
  }
  // The subset of the font has figures of one width.
  const widths = await page.locator('#figure').evaluate((place) => {
    place.style.inset = '0 auto auto 0'
    return [...'0123456789'].map((figure) => {
      place.textContent = figure
      return place.getBoundingClientRect().width
    })
  })
  expect(new Set(widths).size).toBe(1)
})
