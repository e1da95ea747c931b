// node docs/artwork/hues.mjs [NAME...]: lights each ingredient, or these, in its own hue. Once after build.sh: a second run
// lights them twice.
import sharp from 'sharp'

const IMAGES = new URL('../../client/images/', import.meta.url).pathname
/** Shares of red, green and blue that are left: the ground of the renders, #f3e6ca, becomes the ingredient's. */
const LIGHTS = {
  'coenzyme-q10': [0.99, 0.87, 0.62],
  'omega-3': [1, 0.97, 0.72],
  lycopene: [0.98, 0.71, 0.72],
  'mixed-carotene': [1, 0.79, 0.66],
  'wheat-germ-oil': [0.89, 0.83, 0.74],
  'calcium-ascorbate': [0.94, 1, 0.96],
  'vitamin-b12': [0.95, 0.75, 0.88],
  selenium: [0.76, 0.82, 0.96],
  zinc: [0.8, 0.92, 1.08],
}

const names = process.argv.slice(2)
for (const [name, light] of Object.entries(LIGHTS)) {
  if (names.length > 0 && !names.includes(name)) continue
  const lit = await sharp(`${IMAGES}${name}-800.avif`).removeAlpha().linear(light, [0, 0, 0]).png().toBuffer()
  for (const width of [240, 480, 800]) {
    const made = sharp(lit).resize(width)
    await made.clone().avif({ quality: 60 }).toFile(`${IMAGES}${name}-${width}.avif`)
    if (width === 480) await made.webp({ quality: 78, effort: 6, smartSubsample: true }).toFile(`${IMAGES}${name}-480.webp`)
  }
}
