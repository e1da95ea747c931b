import { brand } from '../../shared/brand.ts'

/** The name that wordmark.svg shows. Another name is set as text. */
const DRAWN_NAME: string = 'Quvera'
export const hasWordmark: boolean = brand.name === DRAWN_NAME

const SHORT_WORD_LETTERS = 7

/** For `data-long`: a name with a longer word is set smaller, so that the word stays in one line. */
export function isLong(name: string): true | undefined {
  return name.split(' ').some((word) => word.length > SHORT_WORD_LETTERS) || undefined
}

/** The outlines are in the HTML of each page, which keeps them out of the scripts. */
export function Logo({ name = brand.name }: { name?: string }) {
  if (name !== DRAWN_NAME)
    return (
      <span className="logo logo-type" data-long={isLong(name)}>
        {name}
      </span>
    )
  return (
    <svg className="logo" viewBox="0 0 941 272" role="img" aria-label={name}>
      <use href="#wordmark" />
    </svg>
  )
}
