// A page in another language says so, for its content alone.
import { expect, it } from 'vitest'
import { renderHead } from '../../client/head.tsx'
import { renderBody } from '../../client/renderer.tsx'

const TITLE = 'हमारे बारे में'
const Body = () => <h1>{TITLE}</h1>

it('a page in Hindi tells its language, for its content alone', () => {
  const hindi = { path: '/hi', title: TITLE, description: TITLE, lang: 'hi', Body }
  const page = renderBody(hindi)
  const [main = ''] = /<main\b.*<\/main>/s.exec(page) ?? []
  expect([main, page.replace(main, '')]).toEqual([
    `<main id="main" lang="hi" tabindex="-1"><h1>${TITLE}</h1></main>`,
    expect.not.stringMatching(/lang=|\p{Script=Devanagari}/u),
  ])
  expect(renderHead(hindi)).toContain('<meta property="og:locale" content="hi_IN"/>')
})
