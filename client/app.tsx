import { Footer } from './layout/footer.tsx'
import { Header } from './layout/header.tsx'
import type { FormAnswer, Page } from './pages/page.ts'
import { Island } from './ui/island.tsx'

/** A whole page, as the build and the server write it. */
export function App({ page, answer }: { page: Page; answer: FormAnswer }) {
  const { path, ground, content, unlisted, Body } = page
  const product = content?.product
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Island
        as="header"
        className="site-header"
        data-ground={ground}
        name="header"
        of={Header}
        props={{ path, product }}
      />
      <main id="main" tabIndex={-1}>
        <Body answer={answer} />
      </main>
      <Footer path={unlisted ? '/' : path} product={product} answer={answer.subscription} />
    </>
  )
}
