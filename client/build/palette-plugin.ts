import type { Plugin } from 'vite'
import { palette } from '../../shared/palette.ts'

/** Gives styles the colours that mails have too. */
export const paletteStyles: Plugin = {
  name: 'palette',
  enforce: 'pre',
  transform: {
    filter: { id: /\/styles\/site\.css/ },
    handler: (css) => {
      const token = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return `${css}\n:root{${Object.entries(palette)
        .map(([name, colour]) => `--${token(name)}:${colour}`)
        .join(';')}}`
    },
  },
}
