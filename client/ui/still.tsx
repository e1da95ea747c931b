import { type HTMLAttributes, useState } from 'react'

interface StillProps extends HTMLAttributes<HTMLElement> {
  id: string
  as?: 'article' | 'aside' | 'div' | 'nav' | 'section'
}

/**
 * A part of a page that never changes: browsers take it over as the HTML that it is, so that its code and its texts are
 * not sent again as scripts. Its content is written as `{import.meta.env.IN_FULL && <Content />}`.
 */
export function Still({ as: Tag = 'div', children, ...attributes }: StillProps) {
  // One object for all renderings: for another React would write it into the page anew.
  const [html] = useState(
    () => import.meta.env.IN_FULL || { __html: document.getElementById(attributes.id)?.innerHTML ?? '' },
  )
  if (import.meta.env.IN_FULL || html === true) return <Tag {...attributes}>{children}</Tag>
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it is what the page holds there already
  return <Tag {...attributes} dangerouslySetInnerHTML={html} />
}
