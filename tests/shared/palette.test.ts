// The colours that mails and pages share reach the contrast that WCAG 2.2 AA asks of texts. Of pages axe asks for the others.
import { expect, it } from 'vitest'
import { palette } from '../../shared/brand.ts'

type Palette = Record<keyof typeof palette, string>
type Name = keyof Palette

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const level = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function expectContrast(colours: Palette, one: Name, other: Name, least: number) {
  const [dark = one, light = other] = [one, other].sort((a, b) => luminance(colours[a]) - luminance(colours[b]))
  const remedy = `palette in shared/brand.ts: make ${light} (${colours[light]}) lighter or ${dark} (${colours[dark]}) darker. Their contrast`
  const contrast = (luminance(colours[light]) + 0.05) / (luminance(colours[dark]) + 0.05)
  expect(contrast, remedy).toBeGreaterThanOrEqual(least)
}

/** Which the large number of a product over its page needs. Other texts need 4.5. */
const LARGE_TEXT = 3

it.each<[Name, Name, number?]>([
  ['ink', 'paper'],
  ['ink', 'sand'],
  ['ink', 'accent'],
  ['ink', 'gold'],
  ['inkMuted', 'paper'],
  ['inkMuted', 'sand'],
  ['accentText', 'paper'],
  ['accentText', 'sand'],
  ['leaf', 'paper'],
  ['gold', 'leaf'],
  ['accent', 'sand', LARGE_TEXT],
])('%s and %s', (one, other, least = 4.5) => expectContrast(palette, one, other, least))

it('says which colour of two that are too close to make lighter or darker', () => {
  const close = { ...palette, gold: '#777777', leaf: '#666666' }
  const says =
    /^palette in shared\/brand\.ts: make gold \(#777777\) lighter or leaf \(#666666\) darker\. Their contrast: expected 1\.2\d* to be greater than or equal to 4\.5$/
  expect(() => expectContrast(close, 'gold', 'leaf', 4.5)).toThrow(says)
  expect(() => expectContrast(close, 'leaf', 'gold', 4.5)).toThrow(says)
})
