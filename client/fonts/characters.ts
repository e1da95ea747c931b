const keyboard = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')
const unusualInTitles = /[#$*<=>@[\\\]^_`{|}~]/g

/** The characters of the committed fonts. After adding one, run subset.mjs. */
export const characters = {
  /** Fraunces, in headings. */
  titles: `${keyboard.replace(unusualInTitles, '')}–—’‘“”·×…→`,
  /** Figtree. */
  text: `${keyboard}–—’‘“”·×…µ©→\u00a0`,
}

/** Characters of a page that the fonts lack. Browsers show them in another font. */
export function missingCharacters(html: string): string[] {
  const shown = html.slice(html.indexOf('</head>'))
  const headings = shown.split('<h').filter((part) => /^\d/.test(part))
  const titles = headings.map((part) => part.slice(part.indexOf('>') + 1, part.indexOf('</h'))).join('')
  const missing = (part: string, held: string) =>
    [...part.replace(/<[^<>]*>/g, '')].filter(
      (character) => !held.includes(character) && !/[\p{Cf}\s]/u.test(character),
    )
  return [...new Set([...missing(shown, characters.text), ...missing(titles, characters.titles)])]
}
