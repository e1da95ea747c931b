// The build knows which characters of a page the fonts lack.
import { expect, it } from 'vitest'
import { missingCharacters } from '../../client/fonts/characters.ts'

it('the build knows which characters of a page the fonts lack', () => {
  const page = '<head><title>é</title></head><h1>Café @ home</h1><p title="ß">₹ 300 · “omega-\u20603”</p>'
  expect(missingCharacters(page)).toEqual(['é', '₹', '@'])
})
