import type { ComponentType } from 'react'
import type { Ground, ProductContent } from '../content/product.ts'

export interface Page {
  path: string
  title: string
  /** The ground of the first screen, on which the header floats. */
  ground: Ground
  content?: ProductContent
  /** Nobody looks for it: not for search engines. */
  unlisted?: true
  Body: ComponentType<{ page: Page }>
}
