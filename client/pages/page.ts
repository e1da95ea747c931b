import type { ComponentType } from 'react'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import type { Ground, ProductContent } from '../content/product.ts'

export interface Page {
  path: string
  title: string
  /** For search engines and shared links: 50 to 200 letters. */
  description: string
  /** Ground of the first screen, if it is not paper. */
  ground?: Ground
  content?: ProductContent
  /** Of the content, if it is not English; header and footer are. */
  lang?: string
  /** Not in the sitemap, and `noindex`. */
  unlisted?: true
  /** Loads no script, and nothing is fetched ahead: its address holds a token. */
  hasNoScripts?: true
  /** The footer has no subscribe form. */
  hasBareFooter?: true
  /** The outcome is that of a form sent without scripts, or of a subscriber's link. A built page has none. */
  Body: ComponentType<{ outcome: FormOutcome }>
}
