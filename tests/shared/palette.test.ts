import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { palette } from '../../shared/brand.ts'

const root = resolve(import.meta.dirname, '../..')
const TOKENS = 'client/styles/tokens.css'
const tokens = readFileSync(join(root, TOKENS), 'utf8')

it('pages take from the palette what mails have too', () => {
  expect(tokens).toMatch(/--amber: #[0-9a-f]{6}/)
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
  const source = files.filter((name) => /\.(tsx?|css|html|svg)$/.test(name) && !/artwork|generated/.test(name))
  expect(source.length).toBeGreaterThan(100)
  const others = source.filter((name) => name !== TOKENS && name !== 'shared/brand.ts')
  const repeated = others.filter((name) => /#[0-9a-f]{6}\b/i.test(readFileSync(join(root, name), 'utf8')))
  expect(repeated).toEqual([])
})
