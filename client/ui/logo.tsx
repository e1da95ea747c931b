import { brand } from '../../shared/brand.ts'

/** The wordmark. Its outlines stand once in index.html: in the bundle they would weigh more than all that moves. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 941 272" role="img" aria-label={brand.name}>
      <use href="#wordmark" />
    </svg>
  )
}
