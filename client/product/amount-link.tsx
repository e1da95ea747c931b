import type { Ingredient } from '../content/product.ts'
import { Amount } from '../ui/text.tsx'

/** The id of an ingredient's row of the label. */
export const rowId = (key: string) => `label-${key}`

/** An amount that leads to its row of the label. */
export function AmountLink({ of: { key, amount } }: { of: Pick<Ingredient, 'key' | 'amount'> }) {
  return (
    <p className="amounts">
      <a href={`#${rowId(key)}`}>
        <Amount>{amount}</Amount>
        <span className="visually-hidden"> on the label</span>
      </a>
    </p>
  )
}
