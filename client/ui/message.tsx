import type { ReactNode } from 'react'
import { Linked } from './text.tsx'

export const backHome = (
  <a href="/" className="button">
    Back to the home page
  </a>
)

interface MessageProps {
  title: string
  lead: string
  picture?: ReactNode
  children: ReactNode
}

/** The content of a page that says one thing. */
export function Message({ title, lead, picture, children }: MessageProps) {
  return (
    <section className={picture ? 'page-top message-page with-picture wrap' : 'page-top message-page wrap'}>
      {picture}
      <div className="message-text">
        <h1>{title}</h1>
        <p className="lead">
          <Linked>{lead}</Linked>
        </p>
        {children}
      </div>
    </section>
  )
}
