import { productPath, products } from '../../shared/catalogue.ts'
import { productCards } from '../content/product-cards.ts'
import { Picture } from '../ui/picture.tsx'
import { PageLink } from './page-link.tsx'

interface ProductLinksProps {
  path: string
  pictures?: boolean
  onFollow?: () => void
}

export function ProductLinks({ path, pictures, onFollow }: ProductLinksProps) {
  return products.map((product) => {
    const { picture, ground } = productCards[product]
    return (
      <li key={product}>
        <PageLink href={productPath(product)} path={path} onFollow={onFollow}>
          {pictures && <Picture className={`square close thumbnail on-${ground}`} name={picture} alt="" sizes="72px" />}
          {product}
        </PageLink>
      </li>
    )
  })
}
