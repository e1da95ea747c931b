import { products } from '../../shared/catalogue.ts'
import { NOT_FOUND_PATH } from '../../shared/page-paths.ts'
import { Picture } from '../ui/picture.tsx'
import type { Page } from './page.ts'

export const notFoundPage: Page = {
  path: NOT_FOUND_PATH,
  title: 'Page not found',
  ground: 'paper',
  unlisted: true,
  Body: NotFoundPage,
}

function NotFoundPage() {
  return (
    <section className="page-top lost-page pictured wrap">
      <Picture
        name="not-found"
        alt={`A bottle of ${products[0]} on its side, its cap off and a few capsules spilled`}
        sizes="(min-width: 56.25em) 680px, 92vw"
        first
      />
      <div className="lost-text">
        <h1>Page not found</h1>
        <p className="lead">We could not find this page. It may have moved, or the address may be mistyped.</p>
        <a href="/" className="button">
          Back to the home page
        </a>
      </div>
    </section>
  )
}
