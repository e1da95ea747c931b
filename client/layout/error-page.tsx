import { brand } from '../../shared/brand.ts'
import { telephone } from '../content/contact.ts'

/** Shown in place of everything when a component throws: it uses as little as possible. */
export function ErrorPage() {
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
