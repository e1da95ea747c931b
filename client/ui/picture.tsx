import { pictures } from '../content/pictures.ts'

/** The folder of all pictures. */
const folder: string = import.meta.env.PICTURES

export interface PictureProps {
  name: string
  alt: string
  /** How wide it stands on the page, as in the `sizes` attribute. */
  sizes: string
  className?: string
  /** The place of the product it shows in the catalogue: it moves between the home page and the product's. */
  hero?: number
  /** For the largest picture of the first screen. */
  first?: boolean
}

export function Picture({ name, alt, sizes, className, hero, first }: PictureProps) {
  const { widths, ratio } = pictures(name)
  const [, middle = 0] = widths
  return (
    <picture className={className} data-hero={hero}>
      <source type="image/avif" srcSet={sources(name, widths)} sizes={sizes} />
      {/* Few browsers lack AVIF: one size is enough for them. */}
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

function sources(name: string, widths: readonly number[]) {
  return widths.map((width) => `${folder}/${name}-${width}.avif ${width}w`).join(', ')
}
