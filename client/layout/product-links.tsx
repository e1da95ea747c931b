import { productPath, products } from '../../shared/catalogue.ts'
import { PageLink } from './page-link.tsx'

export function ProductLinks({ path, onFollow }: { path: string; onFollow?: () => void }) {
  return products.map((product) => (
    <li key={product}>
      <PageLink href={productPath(product)} path={path} onFollow={onFollow}>
        {product}
      </PageLink>
    </li>
  ))
}
