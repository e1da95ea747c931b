// The colours that mails and pages share reach the contrast that WCAG 2.2 AA asks of texts. Of pages axe asks for the others.
import { expect, it } from 'vitest'
import { palette } from '../../shared/brand.ts'

function luminance(name: keyof typeof palette): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const level = Number.parseInt(palette[name].slice(at, at + 2), 16) / 255
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Which the large number of a product over its page needs. Other texts need 4.5. */
const LARGE_TEXT = 3

it.each<[keyof typeof palette, keyof typeof palette, number?]>([
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
])('%s and %s', (one, other, least = 4.5) => {
  const [dark = 0, light = 0] = [one, other].map(luminance).sort((a, b) => a - b)
  expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(least)
})
