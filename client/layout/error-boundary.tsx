import { Component, type ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { telephone } from '../content/contact.ts'

export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? <ErrorPage /> : this.props.children
  }
}

/** Shown in place of everything when a component throws: it uses as little as possible. */
function ErrorPage() {
  return (
    <main className="page-top lost-page wrap">
      <div className="lost-text">
        <h1>Unexpected Application Error!</h1>
        <p className="lead">
          Something went wrong on our side. Please reload the page, or call <a href={telephone}>{brand.phone}</a>.
        </p>
        <a href="/" className="button">
          Back to the home page
        </a>
      </div>
    </main>
  )
}
