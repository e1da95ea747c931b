import { pictures } from '../content/pictures.ts'

const files = import.meta.glob<string>('../images/*.{avif,webp}', { eager: true, import: 'default', query: '?url' })

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
  const largest = Math.max(...widths)
  return (
    <picture className={className}>
      <source type="image/avif" srcSet={sources(name, widths, 'avif')} sizes={sizes} />
      <img
        src={file(name, largest, 'webp')}
        srcSet={sources(name, widths, 'webp')}
        sizes={sizes}
        width={largest}
        height={Math.round(largest * ratio)}
        alt={alt}
        {...(first ? { fetchPriority: 'high' } : { loading: 'lazy', decoding: 'async' })}
      />
    </picture>
  )
}

function sources(name: string, widths: readonly number[], format: string) {
  return widths.map((width) => `${file(name, width, format)} ${width}w`).join(', ')
}

function file(name: string, width: number, format: string) {
  const url = files[`../images/${name}-${width}.${format}`]
  if (!url) throw new Error(`There is no picture ${name}-${width}.${format}`)
  return url
}
