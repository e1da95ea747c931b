const keyboard = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')
const unusualInTitles = /[#$*<=>@[\\\]^_`{|}~]/g

/** What the committed fonts hold: `subset.mjs` makes them anew when something is added. */
export const characters = {
  /** Fraunces, in headings. */
  titles: `${keyboard.replace(unusualInTitles, '')}–—’‘“”·×…→`,
  /** Figtree. */
  text: `${keyboard}–—’‘“”·×…µ©→\u00a0`,
}

/** What a page shows and the fonts do not hold: browsers take it from another font. */
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
