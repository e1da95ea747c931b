// Writes the committed fonts from their full files. Needed only when the site gains a character or a weight:
//   npm install --no-save subset-font @fontsource-variable/fraunces@5 @fontsource-variable/figtree@5
//   node client/fonts/subset.mjs
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import subsetFont from 'subset-font'
import { characters } from './characters.ts'

const require = createRequire(import.meta.url)

// Headings and amounts: an optical size at which a 3 is not mistaken for a 5 at 20 px.
await write('fraunces', '@fontsource-variable/fraunces/files/fraunces-latin-full-normal.woff2', characters.titles, {
  wght: 600,
  opsz: 70,
  SOFT: 0,
  WONK: 0,
})
// Texts: the weights 400 to 600, with tabular figures.
await write('figtree', '@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2', characters.text, {
  wght: { min: 400, max: 600 },
})

async function write(name, source, text, variationAxes) {
  const full = await readFile(require.resolve(source))
  const subset = await subsetFont(full, text, { targetFormat: 'woff2', variationAxes, keepFeatures: ['kern', 'tnum'] })
  await writeFile(new URL(`${name}.woff2`, import.meta.url), subset)
  console.log(name, subset.length)
}
