import type { ComponentType, HTMLAttributes } from 'react'

/** The parts of pages that move; `hydrate.tsx` says where the code of each is. */
export type IslandName = 'contents' | 'header' | 'indications' | 'mechanism' | 'order' | 'subscribe'

interface IslandProps<Props> extends HTMLAttributes<HTMLElement> {
  name: IslandName
  of: ComponentType<Props>
  /** Stands in the page too, for React to begin with: plain data. */
  props: Props
  as?: 'div' | 'header' | 'section'
}

/** A part of a page that React brings to life in the browser. What is in none stays the HTML that was built, and is in no script. */
export function Island<Props extends object>({ name, of: Part, props, as: Tag = 'div', ...rest }: IslandProps<Props>) {
  return (
    <Tag {...rest} data-island={name} data-props={JSON.stringify(props)}>
      <Part {...props} />
    </Tag>
  )
}
