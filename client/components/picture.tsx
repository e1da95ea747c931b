import { pictures } from '../content/pictures.ts'

const files = import.meta.glob<string>('../images/*.avif', { eager: true, import: 'default', query: '?url' })
/** Few browsers lack AVIF: one size is enough for them. */
const fallbacks = import.meta.glob<string>('../images/*-{480,640,800}.webp', {
  eager: true,
  import: 'default',
  query: '?url',
})

export interface PictureProps {
  name: string
  alt: string
  /** How wide it stands on the page, as in the `sizes` attribute. */
  sizes: string
  className?: string
  /** For the largest picture of the first screen. */
  first?: boolean
}

export function Picture({ name, alt, sizes, className, first }: PictureProps) {
  const { widths, ratio } = pictures(name)
  const [, middle = 0] = widths
  return (
    <picture className={className}>
      <source type="image/avif" srcSet={sources(name, widths)} sizes={sizes} />
      <img
        src={fallbacks[`../images/${name}-${middle}.webp`]}
        width={middle}
        height={Math.round(middle * ratio)}
        alt={alt}
        {...(first ? { fetchPriority: 'high' } : { loading: 'lazy', decoding: 'async', fetchPriority: 'low' })}
      />
    </picture>
  )
}

function sources(name: string, widths: readonly number[]) {
  return widths.map((width) => `${files[`../images/${name}-${width}.avif`]} ${width}w`).join(', ')
}
