import type { ComponentType, HTMLAttributes } from 'react'

export type IslandName = 'order' | 'subscribe'

interface IslandProps<Props> extends HTMLAttributes<HTMLElement> {
  name: IslandName
  of: ComponentType<Props>
  /** Serialised into the page for hydration: plain data only. */
  props: Props
  as?: 'div' | 'section'
}

/**
 * A form that React hydrates once it is touched. Everything outside islands stays static HTML and is in no script, but for
 * the carousel of wide screens.
 */
export function Island<Props extends object>({ name, of: Part, props, as: Tag = 'div', ...rest }: IslandProps<Props>) {
  return (
    <Tag {...rest} data-island={name} data-props={JSON.stringify(props)}>
      <Part {...props} />
    </Tag>
  )
}
