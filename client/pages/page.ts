import type { ComponentType } from 'react'
import type { Ground, ProductContent } from '../content/product.ts'

export interface Page {
  path: string
  title: string
  /** A product's stands in its own place. */
  description?: string
  /** The ground of the first screen, on which the header floats. */
  ground: Ground
  content?: ProductContent
  /** Nobody looks for it: not for search engines. */
  unlisted?: true
  Body: ComponentType<{ page: Page }>
}
