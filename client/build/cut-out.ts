import sharp, { type Sharp } from 'sharp'

export type Colour = readonly [red: number, green: number, blue: number]

/** Levels of 255 by which a photo's even ground may differ from its colour. */
const NOISE = 4
/** Levels from which on nothing of the ground shines through. */
const SOLID = 40

/** @throws Error that says what a colour looks like */
export function parseColour(text: string): Colour {
  if (!/^#[0-9a-f]{6}$/i.test(text)) throw new Error(`"${text}" is not a colour of the form #RRGGBB.`)
  const [red, green, blue] = Buffer.from(text.slice(1), 'hex') as unknown as Colour
  return [red, green, blue]
}

/**
 * The picture with its ground made transparent: opacity grows with the difference to `ground` and is exactly 0 where
 * there is only ground; colours are such that the picture looks as before when it stands on `ground`.
 */
export async function cutOut(picture: Sharp, ground: Colour): Promise<Sharp> {
  const { data, info } = await picture.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  for (let pixel = 0; pixel < data.length; pixel += 4) {
    const difference = Math.max(...ground.map((level, channel) => Math.abs((data[pixel + channel] ?? 0) - level)))
    const opacity = Math.min(1, Math.max(0, (difference - NOISE) / (SOLID - NOISE)))
    for (const [channel, level] of ground.entries()) {
      const shown = (data[pixel + channel] ?? 0) - level
      data[pixel + channel] = Math.min(255, Math.max(0, Math.round(level + (opacity && shown / opacity))))
    }
    data[pixel + 3] = Math.round(opacity * 255)
  }
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
}
