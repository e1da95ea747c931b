import type { ReactNode } from 'react'

export const backHome = (
  <a href="/" className="button">
    Back to the home page
  </a>
)

interface MessagePageProps {
  title: string
  picture?: ReactNode
  children: ReactNode
}

/** A page with one message. */
export function MessagePage({ title, picture, children }: MessagePageProps) {
  return (
    <section className={picture ? 'page-top message-page with-picture wrap' : 'page-top message-page wrap'}>
      {picture}
      <div className="message-text">
        <h1>{title}</h1>
        {children}
      </div>
    </section>
  )
}
