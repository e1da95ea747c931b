import { brand } from '../../shared/brand.ts'

const TOGETHER = new RegExp(`(?<=\\b(?:${brand.name}|New|Coenzyme)) (?=[\\dA-Z])|(?<=\\d) (?=m?c?g\\b)`, 'g')

/** A text with spaces at which no line ends: within names, and between a figure and its unit. */
export function Words({ children }: { children: string }) {
  return children.replace(TOGETHER, '\u00a0')
}
