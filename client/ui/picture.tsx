/** The files of a picture. */
export interface PictureFiles {
  /** Ascending. */
  widths: number[]
  /** Height divided by width. */
  ratio: number
}

const pictures: Record<string, PictureFiles> = import.meta.env.PICTURES

/** The folder of all pictures. */
const folder: string = import.meta.env.PICTURES_FOLDER

interface PictureProps {
  name: string
  alt: string
  /** The `sizes` attribute. */
  sizes: string
  className?: string
  /** Index of its product: the view transition moves it from the home page to the product page. */
  hero?: number
  /** For the largest picture of the first screen. */
  first?: boolean
}

export function Picture({ name, alt, sizes, className, hero, first }: PictureProps) {
  const files = pictures[name]
  if (!files) throw new Error(`No picture: npm run pictures -- ${name} photo.jpg`)
  const { widths, ratio } = files
  const [, middle = 0] = widths
  return (
    <picture className={className} data-hero={hero}>
      <source
        type="image/avif"
        srcSet={widths.map((width) => `${folder}/${name}-${width}.avif ${width}w`).join(', ')}
        sizes={sizes}
      />
      {/* One size is enough for the few browsers without AVIF. */}
      <img
        src={`${folder}/${name}-${middle}.webp`}
        width={middle}
        height={Math.round(middle * ratio)}
        alt={alt}
        {...(first ? { fetchPriority: 'high' } : { loading: 'lazy', decoding: 'async', fetchPriority: 'low' })}
      />
    </picture>
  )
}
