import { Words } from '../ui/words.tsx'

interface SectionHeadProps {
  title: string
  id: string
  /** On product pages the sections are numbered, as in a package insert. */
  number?: number
  lead?: string
}

export function SectionHead({ title, id, number, lead }: SectionHeadProps) {
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
          <Words>{lead}</Words>
        </p>
      )}
    </div>
  )
}
