// The colours of the palette reach the contrast that WCAG 2.2 AA asks for, and each is written down in one place.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { palette } from '../../shared/brand.ts'

const root = resolve(import.meta.dirname, '../..')
const TOKENS = 'client/styles/tokens.css'
const tokens = readFileSync(join(root, TOKENS), 'utf8')

it('pages take from the palette what mails have too', () => {
  expect(tokens).toMatch(/--lycopene: #[0-9a-f]{6}/)
  for (const [name, colour] of Object.entries(palette)) {
    expect(tokens, name).not.toContain(colour)
    const token = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    expect(tokens).not.toMatch(new RegExp(`--${token}:`))
  }
})

it('a colour is written down nowhere else', () => {
  const files = ['client', 'server', 'shared'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const source = files.filter((name) => /\.(tsx?|css|html|svg)$/.test(name) && !/generated/.test(name))
  expect(source.length).toBeGreaterThan(100)
  const others = source.filter((name) => name !== TOKENS && name !== 'shared/brand.ts')
  const repeated = others.filter((name) => /#[0-9a-f]{6}\b/i.test(readFileSync(join(root, name), 'utf8')))
  expect(repeated).toEqual([])
})

const colours = new Map<string, string>([
  ...Object.entries(palette).map(([name, colour]): [string, string] => [name, colour]),
  ...[...tokens.matchAll(/(?:--|data-hue=')([\w-]+)(?:: |'\] \{\n {2}--hue: )(#[0-9a-f]{6})/g)].map(
    ([found, name = '', colour = '']): [string, string] => [found.startsWith('--') ? name : `the hue ${name}`, colour],
  ),
  ['white', '#ffffff'],
])

/** By WCAG 2.2. */
function contrast(one: string, other: string) {
  const [light = 0, dark = 0] = [one, other]
    .map((name) => {
      const colour = colours.get(name)
      if (!colour) throw new Error(`There is no colour ${name}`)
      const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
        const level = Number.parseInt(colour.slice(at, at + 2), 16) / 255
        return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    })
    .sort((a, b) => b - a)
  return Math.round((light / dark) * 100) / 100
}

const TEXT = 4.5
const LARGE = 3
const pairs: [front: string, ground: string, least: number][] = [
  ...['paper', 'sand', 'white'].flatMap((ground) =>
    ['ink', 'inkMuted', 'accentText', 'lycopene'].map((front) => [front, ground, TEXT] as [string, string, number]),
  ),
  ...['leaf', 'lycopene', 'ink'].map((ground) => ['paper', ground, TEXT] as [string, string, number]),
  ['ink', 'accent', TEXT],
  ['ink', 'mint', TEXT],
  ['ink', 'gold', TEXT],
  ['gold', 'leaf', TEXT],
  ['mint', 'leaf', TEXT],
  ['accent', 'sand', LARGE],
  ['field-line', 'white', LARGE],
  ...['carrot', 'amber', 'wheat', 'cream', 'rose', 'zinc'].map(
    (hue) => ['ink', `the hue ${hue}`, TEXT] as [string, string, number],
  ),
  ...['pepper', 'slate'].map((hue) => ['paper', `the hue ${hue}`, TEXT] as [string, string, number]),
]

it.each(pairs)('%s on %s is read by those who see little', (front, ground, least) => {
  expect(contrast(front, ground)).toBeGreaterThanOrEqual(least)
})
