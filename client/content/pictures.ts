/** Pictures that exist in the same widths and have the same shape. */
export interface PictureSet {
  names: string[]
  /** Ascending. */
  widths: number[]
  /** Height divided by width. */
  ratio: number
}

const sets: PictureSet[] = import.meta.env.PICTURE_SETS

/** The widths in which a picture lies in client/images, and its shape. */
export function pictures(name: string): PictureSet {
  const set = sets.find(({ names }) => names.includes(name))
  if (!set) throw new Error(`No picture: npm run pictures -- ${name} photo.jpg`)
  return set
}
