import { palette } from '../shared/brand.ts'

/** An SVG with the colours of the palette in place of `var(--…)`: an icon has no stylesheet. */
export function inPalette(svg: string): string {
  return svg.replace(/var\(--(\w+)\)/g, (_, name: keyof typeof palette) => palette[name])
}
