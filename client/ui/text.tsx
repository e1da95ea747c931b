import { Fragment, type ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { telephone } from '../content/contact.ts'

/** Group 1: a word that belongs to the next one. Group 2: a digit before its unit. */
const NO_BREAK = new RegExp(`\\b(${brand.name}|New|Coenzyme) (?=[\\dA-Z])|(\\d) (?=m?c?g\\b)`, 'g')

/** A text with no-break spaces within names and between a figure and its unit. */
export function NoBreakSpaces({ children }: { children: string }) {
  return children.replace(NO_BREAK, '$1$2\u00a0')
}

/** A name. What is in brackets behind it breaks only where it is wider than a line. */
export function FullName({ children }: { children: string }) {
  const [name, note] = children.split(/ (?=\()/)
  return (
    <>
      {name} {note && <span className="whole">{note}</span>}
    </>
  )
}

const links: Record<string, string> = { [brand.phone]: telephone, [brand.email]: `mailto:${brand.email}` }
const escaped = Object.keys(links).map((text) => text.replace(/\W/g, '\\$&'))
const LINKED = new RegExp(`(${escaped.join('|')})`)

/** A text in which our phone number and email address are links. */
export function Linked({ children }: { children: string }) {
  return children.split(LINKED).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places
    <Fragment key={index}>
      {links[part] ? <a href={links[part]}>{part}</a> : <NoBreakSpaces>{part}</NoBreakSpaces>}
    </Fragment>
  ))
}

/** A long address breaks before its @, or before a dot of what precedes it. */
export function Address({ children }: { children: string }) {
  const at = children.lastIndexOf('@')
  const parts = at < 0 ? [children] : [...children.slice(0, at).split(/(?=\.)/), children.slice(at)]
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}

/**
 * Amounts, one a line: "300 mg" or "EPA 90 mg". The figure is large, the words are small. A page translated into Arabic or Urdu
 * keeps their order.
 */
export function Amount({ children }: { children: string }) {
  return children.split('\n').map((line, index) => {
    const [, before, figure, unit] = /^(?:(\D+) )?(\d[\d.]*) (\w+)$/.exec(line) ?? []
    return (
      <Fragment key={line}>
        {index > 0 && ' '}
        <span className="amount">
          <bdi dir="ltr">
            {before && <small>{before}</small>} {figure ?? line} <small>{unit}</small>
          </bdi>
        </span>
      </Fragment>
    )
  })
}

interface SectionHeadProps {
  title: string
  id: string
  /** On product pages the sections are numbered, as in a package insert. */
  number?: number
  lead?: string | undefined
  children?: ReactNode
}

export function SectionHead({ title, id, number, lead, children }: SectionHeadProps) {
  return (
    <div className={number ? 'section-head numbered' : 'section-head'}>
      {number && (
        <p className="section-number" aria-hidden="true">
          {number}
        </p>
      )}
      <h2 id={`${id}-title`}>{title}</h2>
      {lead && (
        <p className="lead">
          <NoBreakSpaces>{lead}</NoBreakSpaces>
        </p>
      )}
      {children}
    </div>
  )
}
