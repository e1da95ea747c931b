// The build knows which characters of a page the fonts lack.
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { missingCharacters } from '../../client/fonts/characters.ts'

it('the build knows which characters of a page the fonts lack', () => {
  const page = '<head><title>é</title></head><h1>Café @ home</h1><p title="ß">₹ 300 · “omega-\u20603”</p>'
  expect(missingCharacters(page)).toEqual(['é', '₹', '@'])
})

it('what the fonts lack is shown in a font of the device', async () => {
  const tokens = await readFile('client/styles/tokens.css', 'utf8')
  const stacks = [...tokens.matchAll(/^\s*--(?:display|text): (.+);$/gm)].map(([, fonts]) => fonts)
  expect(stacks).toEqual([expect.stringMatching(/, serif$/), expect.stringMatching(/, sans-serif$/)])
})
