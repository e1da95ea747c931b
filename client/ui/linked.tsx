import { Fragment } from 'react'
import { brand } from '../../shared/brand.ts'
import { telephone } from '../content/contact.ts'
import { Words } from './words.tsx'

const links: Record<string, string> = { [brand.phone]: telephone, [brand.email]: `mailto:${brand.email}` }
const LINKED = new RegExp(`(${Object.keys(links).join('|').replace(/[+.]/g, '\\$&')})`)

/** A text in which our telephone number and address are links. */
export function Linked({ children }: { children: string }) {
  return children.split(LINKED).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places
    <Fragment key={index}>{links[part] ? <a href={links[part]}>{part}</a> : <Words>{part}</Words>}</Fragment>
  ))
}
